//! `#[shared]`: functions that several laws call, in the language of laws.

use crate::{Module, law, lift, print};
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Error, ItemMod, Result};

/// The module lifted to lanes, with its text as CUDA C++.
pub fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new_spanned(&options, "#[shared] has no options"));
    }
    let module: ItemMod = syn::parse2(item)?;
    let parts = Module::of(&module, Vec::new())?;
    let cuda = print::namespace(&module.ident, &parts, "")?;
    let constants = parts.structs.iter().map(law::constants_of);
    let mut lift = lift::Lift::new(&parts);
    let (mut structs, mut functions) = (parts.structs.clone(), parts.functions.clone());
    structs.iter_mut().for_each(|s| lift.visit_item_struct_mut(s));
    functions.iter_mut().for_each(|f| lift.visit_item_fn_mut(f));
    let (attributes, visibility, name) = (&module.attrs, &module.vis, &module.ident);
    Ok(quote! {
        #(#attributes)*
        #[allow(missing_docs, clippy::too_many_arguments, clippy::module_inception)]
        #visibility mod #name {
            #[allow(unused_imports)]
            use ::hilbrium::pair::language::*;
            #(#structs)*
            #(#functions)*
            #(#constants)*
            /// The functions as CUDA C++.
            pub const CUDA: &str = #cuda;
        }
    })
}
