//! `#[pair]`: compiles a module of restricted Rust twice, to SIMD lanes and to CUDA C++.
//!
//! The language is fixed: structs of `Real`, `Vec3`, `Tensor` (symmetric), `Kernel` and `Table`, `fn`, `let`,
//! `+ - * /`, comparisons in `if ... else`, calls, struct literals. Anything else is an error at the line in
//! question. `if planted(FAULT) { wrong } else { right }` plants a fault of `hilbrium::faults`, on processors
//! only.

mod distance;
mod fault;
mod law;
mod lift;
mod molecular;
mod options;
mod print;
mod shared;
#[cfg(test)]
mod tests;

use options::Options;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{Error, Ident, Item, ItemFn, ItemMod, ItemStruct, Result};

/// Generates a pair law from a module with `struct Law`, `struct Sums`, `fn interact`, and optionally `struct
/// Particle` (inputs of a pair's particles) and `struct Output` with `fn finish`.
///
/// `cutoff` selects the pairs that act on i: `#[pair(cutoff = own)]` r < radius of i; `#[pair(cutoff =
/// either)]`, the default, r < the larger radius of the two; `#[pair(cutoff = common)]` r < one radius for
/// all particles. Fields of `Particle` and `Output` (or `Sums` without `finish`) are named after `Field`.
/// Fields of `Sums` may be marked `#[odd]` or `#[even]` under exchange of i and j, and `#[min]` or `#[max]`
/// if they are not added.
///
/// `#[pair(molecular)]` is for molecules: the cutoff is common, and a module that has no `struct Sums`,
/// `struct Output` or `fn finish` gets force (odd), energy and virial (even), of which `finish` gives a
/// particle half of the latter two.
#[proc_macro_attribute]
pub fn pair(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(options.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Make functions that laws share of a module of structs and functions in the language of laws.
///
/// A law names the module in `#[pair(..., uses(NAME))]`; then `NAME::function(...)` is a call, and
/// `NAME::Struct` the type of a field of its `struct Law`. Modules that it names must be in scope where the
/// law is.
#[proc_macro_attribute]
pub fn shared(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    shared::expand(options.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// The items of a law's module.
struct Module {
    structs: Vec<ItemStruct>,
    functions: Vec<ItemFn>,
    /// Modules of shared functions that it calls.
    uses: Vec<Ident>,
}

impl Module {
    fn structure(&self, name: &str) -> Option<&ItemStruct> {
        self.structs.iter().find(|s| s.ident == name)
    }

    fn function(&self, name: &str) -> Option<&ItemFn> {
        self.functions.iter().find(|f| f.sig.ident == name)
    }

    /// The structs and functions of a module with its body.
    fn of(module: &ItemMod, uses: Vec<Ident>) -> Result<Self> {
        let Some((_, items)) = &module.content else {
            return Err(Error::new_spanned(module, "a pair law is a module with its body"));
        };
        let mut parts = Module { structs: Vec::new(), functions: Vec::new(), uses };
        for item in items {
            match item {
                Item::Struct(s) => parts.structs.push(s.clone()),
                Item::Fn(f) => parts.functions.push(f.clone()),
                other => {
                    return Err(Error::new_spanned(other, "a pair law holds structs and functions only"));
                }
            }
        }
        Ok(parts)
    }

    /// Whether a path is `NAME::ITEM` of a module of shared functions.
    fn shares(&self, path: &syn::Path) -> bool {
        path.segments.len() == 2
            && path.segments.iter().all(|segment| segment.arguments.is_empty())
            && self.uses.contains(&path.segments[0].ident)
    }
}

fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(options)?;
    let cutoff = options.cutoff;
    let module: ItemMod = syn::parse2(item)?;
    let mut parts = Module::of(&module, options.uses)?;
    if options.molecular {
        molecular::complete(&mut parts);
    }
    let cuda = print::module(&module.ident, &parts)?;
    // Only tiles, whose pairs share one cutoff, use software pipelining.
    let mut functions = parts.functions.clone();
    let known = distance::split(&mut functions, cutoff == "Common")?;
    let implementation = law::implementation(&module.ident, &parts, &cutoff, known)?;

    let mut lift = lift::Lift::new(&parts);
    let mut structs = parts.structs.clone();
    structs.iter_mut().for_each(|s| lift.visit_item_struct_mut(s));
    functions.iter_mut().for_each(|f| lift.visit_item_fn_mut(f));
    let uses = &parts.uses;
    let includes = uses.iter().map(ToString::to_string);
    let (attributes, visibility, name) = (&module.attrs, &module.vis, &module.ident);
    Ok(quote! {
        #(#attributes)*
        #[allow(missing_docs, clippy::too_many_arguments, clippy::module_inception)]
        #visibility mod #name {
            #[allow(unused_imports)]
            use ::hilbrium::pair::language::*;
            #(use super::#uses;)*
            #(#structs)*
            #(#functions)*
            #implementation
            /// The law as CUDA C++ source.
            pub const CUDA: &str = #cuda;
            /// The modules of shared functions that it calls.
            pub const USES: &[&str] = &[#(#includes),*];
        }
    })
}

/// Returns the name of the hidden argument of each lifted function, which creates literals.
fn token() -> Ident {
    format_ident!("token_", span = Span::mixed_site())
}
