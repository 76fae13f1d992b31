//! Splits `interact` for software pipelining: values that depend on the pair distance alone go to a function
//! of their own. The engine evaluates it ahead for the next pairs. These values include the reciprocals and
//! square roots, which have the longest latency.

use crate::law::return_type_name;
use proc_macro2::Span;
use quote::format_ident;
use syn::visit_mut::VisitMut;
use syn::{
    Error, Expr, ExprCall, ExprPath, ExprStruct, FnArg, Ident, ItemFn, Local, Pat, Result, Stmt, parse_quote,
};

/// Name of the generated function.
pub const NAME: &str = "distance_alone";

/// Moves the statements of `interact` that depend on the distance alone to a new function of the squared
/// distance. `interact` gets their values as one more argument. Returns the number of values; zero unless
/// `wanted`. Must run before functions are lifted.
pub fn split(functions: &mut Vec<ItemFn>, wanted: bool) -> Result<usize> {
    if let Some(function) = functions.iter().find(|function| function.sig.ident == NAME) {
        return Err(Error::new_spanned(&function.sig.ident, "the law's own function has this name"));
    }
    let other_functions = functions.iter().filter(|function| return_type_name(function) != "Real");
    let other_functions = other_functions.map(|function| function.sig.ident.clone()).collect();
    let Some(interact) = functions.iter_mut().find(|function| function.sig.ident == "interact") else {
        return Ok(0);
    };
    let square = match interact.sig.inputs.last() {
        Some(FnArg::Typed(typed)) => name(&typed.pat).cloned(),
        _ => None,
    };
    let square = square.ok_or_else(|| Error::new_spanned(&interact.sig, "plain names of arguments"))?;
    let mut known = DistanceOnly { names: vec![square.clone()], other_functions, is_distance_only: true };
    let (alone, rest): (Vec<Stmt>, Vec<Stmt>) =
        interact.block.stmts.drain(..).partition(|statement| wanted && known.follows(statement));
    let names = &known.names[1..];
    let (count, function) = (names.len(), format_ident!("{NAME}"));
    // Hygiene: this name cannot collide with a name of the law.
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

/// Names of values that depend on the distance alone.
struct DistanceOnly {
    names: Vec<Ident>,
    /// Functions of the law that do not return a number.
    other_functions: Vec<Ident>,
    /// Whether the visited expression uses only such names.
    is_distance_only: bool,
}

impl DistanceOnly {
    /// Returns whether a statement binds a value that depends on the distance alone, and records its name.
    fn follows(&mut self, statement: &Stmt) -> bool {
        let Stmt::Local(Local { pat, init: Some(init), .. }) = statement else { return false };
        self.is_distance_only = true;
        self.visit_expr_mut(&mut init.expr.clone());
        if let (true, Some(name)) = (self.is_distance_only, name(pat)) {
            self.names.push(name.clone());
            return true;
        }
        false
    }
}

impl VisitMut for DistanceOnly {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        self.is_distance_only &= path.path.get_ident().is_some_and(|name| self.names.contains(name));
    }

    fn visit_expr_struct_mut(&mut self, _: &mut ExprStruct) {
        // A struct is not a single value.
        self.is_distance_only = false;
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        // The function's name is not a value. Return types of shared functions are not known here.
        if let Expr::Path(path) = &*call.func {
            self.is_distance_only &=
                path.path.get_ident().is_some_and(|name| !self.other_functions.contains(name));
        }
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }
}
