//! What of `interact` follows from a pair's distance alone, so that the engine can evaluate it for the next pairs while it is still
//! at the last ones: reciprocals and roots, which take longest, need nothing else of their pair.

use crate::law::returned;
use proc_macro2::Span;
use quote::format_ident;
use syn::visit_mut::VisitMut;
use syn::{
    Error, Expr, ExprCall, ExprPath, ExprStruct, FnArg, Ident, ItemFn, Local, Pat, Result, Stmt, parse_quote,
};

/// The name of the function that returns it.
pub const NAME: &str = "distance_alone";

/// Move what follows from the distance alone out of `interact`, which gets it as one more argument, to a function of the square
/// of the distance that is added, and return how many values these are; nothing is moved unless it is `wanted`. Run before functions
/// are lifted.
pub fn split(functions: &mut Vec<ItemFn>, wanted: bool) -> Result<usize> {
    if let Some(function) = functions.iter().find(|function| function.sig.ident == NAME) {
        return Err(Error::new_spanned(&function.sig.ident, "the law's own function has this name"));
    }
    let others = functions.iter().filter(|function| returned(function) != "Real");
    let others = others.map(|function| function.sig.ident.clone()).collect();
    let Some(interact) = functions.iter_mut().find(|function| function.sig.ident == "interact") else {
        return Ok(0);
    };
    let square = match interact.sig.inputs.last() {
        Some(FnArg::Typed(typed)) => name(&typed.pat).cloned(),
        _ => None,
    };
    let square = square.ok_or_else(|| Error::new_spanned(&interact.sig, "plain names of arguments"))?;
    let mut known = Known { names: vec![square.clone()], others, only: true };
    let (alone, rest): (Vec<Stmt>, Vec<Stmt>) =
        interact.block.stmts.drain(..).partition(|statement| wanted && known.follows(statement));
    let names = &known.names[1..];
    let (count, function) = (names.len(), format_ident!("{NAME}"));
    // no name of the law's can be this one
    let argument = format_ident!("known", span = Span::mixed_site());
    interact.sig.inputs.push(parse_quote!(#argument: [Real; #count]));
    interact.block = parse_quote!({
        let [#(#names),*] = #argument;
        #(#rest)*
    });
    functions.push(parse_quote! {
        fn #function(#square: Real) -> [Real; #count] {
            #(#alone)*
            [#(#names),*]
        }
    });
    Ok(count)
}

fn name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pattern) => Some(&pattern.ident),
        _ => None,
    }
}

/// Names whose values follow from the distance.
struct Known {
    names: Vec<Ident>,
    /// The law's functions that give something else than a number.
    others: Vec<Ident>,
    /// Whether what was visited has no other names.
    only: bool,
}

impl Known {
    /// Whether a statement gives a name to what follows from the distance; then the name is known too.
    fn follows(&mut self, statement: &Stmt) -> bool {
        let Stmt::Local(Local { pat, init: Some(init), .. }) = statement else { return false };
        self.only = true;
        self.visit_expr_mut(&mut init.expr.clone());
        if let (true, Some(name)) = (self.only, name(pat)) {
            self.names.push(name.clone());
            return true;
        }
        false
    }
}

impl VisitMut for Known {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        self.only &= path.path.get_ident().is_some_and(|name| self.names.contains(name));
    }

    fn visit_expr_struct_mut(&mut self, _: &mut ExprStruct) {
        // no single value
        self.only = false;
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        // a function's name is none of a value; of shared functions only their names are known here
        if let Expr::Path(path) = &*call.func {
            self.only &= path.path.get_ident().is_some_and(|name| !self.others.contains(name));
        }
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }
}
