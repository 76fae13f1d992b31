//! Planted faults: `if planted(FAULT) { wrong } else { right }`. Lanes ask `hilbrium::faults` at run time, a
//! constant in builds without faults. CUDA C++ gets the right value only.

use syn::{Expr, ExprIf, Ident};

/// The fault that an `if` plants; `None` for any other `if`.
pub fn planted(choice: &ExprIf) -> Option<&Ident> {
    let Expr::Call(call) = &*choice.cond else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let mut arguments = call.args.iter();
    let (Some(Expr::Path(fault)), None) = (arguments.next(), arguments.next()) else { return None };
    if function.path.is_ident("planted") { fault.path.get_ident() } else { None }
}

/// Whether an expression is an `if` that plants a fault.
pub fn plants(expression: &Expr) -> bool {
    matches!(expression, Expr::If(choice) if planted(choice).is_some())
}
