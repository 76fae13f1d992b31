//! What of `interact` follows from a pair's distance alone, so that the engine can evaluate it for the next pairs while it is still
//! at the last ones: reciprocals and roots, which take longest, need nothing else of their pair.

use quote::format_ident;
use syn::visit_mut::VisitMut;
use syn::{
    Error, ExprCall, ExprPath, ExprStruct, FnArg, Ident, ItemFn, Local, Pat, Result, Stmt, parse_quote,
};

/// The name of the function that returns it.
pub const NAME: &str = "distance_alone";

/// Move what follows from the distance alone out of `interact`, which gets it as one more argument, to a function of the square
/// of the distance, and say how many values these are; nothing is moved unless it is `wanted`. Run before functions are lifted.
pub fn split(interact: &mut ItemFn, wanted: bool) -> Result<(ItemFn, usize)> {
    let square = match interact.sig.inputs.last() {
        Some(FnArg::Typed(typed)) => name(&typed.pat).cloned(),
        _ => None,
    };
    let square = square.ok_or_else(|| Error::new_spanned(&interact.sig, "plain names of arguments"))?;
    let mut known = Known { names: vec![square.clone()], only: true };
    let (alone, rest): (Vec<Stmt>, Vec<Stmt>) =
        interact.block.stmts.drain(..).partition(|statement| wanted && known.follows(statement));
    let names = &known.names[1..];
    let (count, function, argument) = (names.len(), format_ident!("{NAME}"), format_ident!("known_distance"));
    interact.sig.inputs.push(parse_quote!(#argument: [Real; #count]));
    interact.block = parse_quote!({
        let [#(#names),*] = #argument;
        #(#rest)*
    });
    let function = parse_quote! {
        fn #function(#square: Real) -> [Real; #count] {
            #(#alone)*
            [#(#names),*]
        }
    };
    Ok((function, count))
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
        // a function's name is none of a value
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }
}
