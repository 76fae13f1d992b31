//! Lifts plain Rust to SIMD lanes: `Real` becomes the type parameter `R`, a hidden token creates literals,
//! and `if a < b` becomes a masked select. Runs after the printer, which has rejected everything outside of
//! the language.

use crate::{Module, fault, token};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprIf, ExprLit, ItemFn, ItemStruct, Lit, Stmt, Type, parse_quote};

pub struct Lift<'a> {
    module: &'a Module,
}

impl<'a> Lift<'a> {
    pub fn new(module: &'a Module) -> Self {
        Self { module }
    }

    /// Whether it is a function that gets the hidden token: one of the module's own, or a shared one.
    fn takes_token(&self, path: &syn::Path) -> bool {
        path.get_ident().is_some_and(|name| self.module.functions.iter().any(|f| f.sig.ident == *name))
            || self.module.shares(path)
    }

    /// Converts a condition to a mask.
    fn mask(&mut self, condition: &Expr) -> Expr {
        match condition {
            Expr::Paren(inside) => self.mask(&inside.expr),
            Expr::Binary(binary) => {
                let sides = |lift: &mut Self| {
                    let (mut left, mut right) = (binary.left.clone(), binary.right.clone());
                    lift.visit_expr_mut(&mut left);
                    lift.visit_expr_mut(&mut right);
                    (left, right)
                };
                match binary.op {
                    BinOp::And(_) | BinOp::Or(_) => {
                        let (left, right) = (self.mask(&binary.left), self.mask(&binary.right));
                        if matches!(binary.op, BinOp::And(_)) {
                            parse_quote!((#left) & (#right))
                        } else {
                            parse_quote!((#left) | (#right))
                        }
                    }
                    BinOp::Lt(_) => {
                        let (left, right) = sides(self);
                        parse_quote!(R::less(#left, #right))
                    }
                    BinOp::Le(_) => {
                        let (left, right) = sides(self);
                        parse_quote!(R::less_or_equal(#left, #right))
                    }
                    BinOp::Gt(_) => {
                        let (left, right) = sides(self);
                        parse_quote!(R::less(#right, #left))
                    }
                    _ => {
                        let (left, right) = sides(self);
                        parse_quote!(R::less_or_equal(#right, #left))
                    }
                }
            }
            other => other.clone(),
        }
    }
}

/// Returns the expression of a block that consists of one.
fn value(block: &Block) -> Expr {
    match &block.stmts[..] {
        [Stmt::Expr(expression, None)] => expression.clone(),
        _ => parse_quote!(#block),
    }
}

impl VisitMut for Lift<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && let Some(name) = path.path.get_ident()
        {
            *ty = if name == "Real" { parse_quote!(R) } else { parse_quote!(#name<R>) };
        } else if let Type::Path(path) = ty
            && self.module.shares(&path.path)
        {
            *ty = parse_quote!(#path<R>);
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }

    fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
        visit_mut::visit_item_struct_mut(self, item);
        item.generics = parse_quote!(<R>);
        item.vis = parse_quote!(pub);
        item.attrs.push(parse_quote!(#[derive(Clone, Copy, Debug)]));
        for field in &mut item.fields {
            field.attrs.retain(|attribute| attribute.path().is_ident("doc"));
            field.vis = parse_quote!(pub);
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        visit_mut::visit_item_fn_mut(self, function);
        let token = token();
        function.sig.generics = parse_quote!(<R: Real>);
        function.sig.inputs.insert(0, parse_quote!(#token: R::Token));
        function.vis = parse_quote!(pub);
        function.attrs.push(parse_quote!(#[allow(unused_variables)]));
        function.attrs.push(parse_quote!(#[inline(always)]));
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if let Expr::If(choice) = expression
            && let Some(fault) = fault::planted(choice).cloned()
        {
            *choice.cond = parse_quote!(::hilbrium::faults::planted(::hilbrium::faults::Fault::#fault));
            self.visit_block_mut(&mut choice.then_branch);
            choice.else_branch.iter_mut().for_each(|(_, right)| self.visit_expr_mut(right));
            return;
        }
        if let Expr::If(ExprIf { cond, then_branch, else_branch: Some((_, no)), .. }) = expression {
            let mask = self.mask(cond);
            let mut yes = value(then_branch);
            let mut no = match &**no {
                Expr::Block(block) => value(&block.block),
                other => other.clone(),
            };
            self.visit_expr_mut(&mut yes);
            self.visit_expr_mut(&mut no);
            *expression = parse_quote!(R::select(#mask, #yes, #no));
            return;
        }
        let token = token();
        if let Expr::Call(call) = expression {
            call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            if let Expr::Path(path) = &*call.func
                && self.takes_token(&path.path)
            {
                call.args.insert(0, parse_quote!(#token));
            }
            return;
        }
        visit_mut::visit_expr_mut(self, expression);
        if let Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) = expression {
            *expression = parse_quote!(R::literal(#token, #expression));
        }
    }
}
