//! The options of `#[pair(...)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Meta, Result, Token};

const HELP: &str =
    "write #[pair(cutoff = own)], #[pair(cutoff = either)], #[pair(cutoff = common)] or #[pair(molecular)]";

/// What the options of a law say.
pub struct Options {
    /// When a pair acts, as a member of `Cutoff`.
    pub cutoff: Ident,
    /// Whether the law is one of molecules.
    pub molecular: bool,
    /// Modules of shared functions.
    pub uses: Vec<Ident>,
}

impl Options {
    /// From `cutoff = own`, `either` (the default) or `common`; `molecular`; and `uses(NAME, ...)`.
    pub fn parse(options: TokenStream) -> Result<Self> {
        let list = Punctuated::<Meta, Token![,]>::parse_terminated
            .parse2(options.clone())
            .map_err(|_| Error::new_spanned(&options, HELP))?;
        let mut parsed = Options { cutoff: format_ident!("Either"), molecular: false, uses: Vec::new() };
        for option in &list {
            match option {
                Meta::Path(path) if path.is_ident("molecular") => {
                    parsed.cutoff = format_ident!("Common");
                    parsed.molecular = true;
                }
                Meta::List(list) if list.path.is_ident("uses") => {
                    let names = list.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
                    parsed.uses.extend(names);
                }
                Meta::NameValue(pair) if pair.path.is_ident("cutoff") => {
                    let value = &pair.value;
                    parsed.cutoff = match quote!(#value).to_string().as_str() {
                        "own" => format_ident!("Own"),
                        "either" => format_ident!("Either"),
                        "common" => format_ident!("Common"),
                        _ => return Err(Error::new_spanned(option, HELP)),
                    };
                }
                other => return Err(Error::new_spanned(other, HELP)),
            }
        }
        Ok(parsed)
    }
}
