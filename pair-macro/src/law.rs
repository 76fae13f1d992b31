//! Generates the `PairLaw` implementation of a law: its columns, symmetries and outputs.

use crate::{Module, distance, token};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Error, Ident, ItemFn, ItemStruct, Result, Type};

/// A named field of a struct.
struct Quantity<'a> {
    name: &'a Ident,
    kind: String,
    field: &'a syn::Field,
}

fn quantities(item: &ItemStruct) -> Vec<Quantity<'_>> {
    item.fields
        .iter()
        .filter_map(|f| f.ident.as_ref().map(|name| Quantity { name, kind: kind(&f.ty), field: f }))
        .collect()
}

fn kind(ty: &Type) -> String {
    ty.to_token_stream().to_string()
}

/// Returns the return type of a function; empty if it has none.
pub fn return_type_name(function: &ItemFn) -> String {
    match &function.sig.output {
        syn::ReturnType::Type(_, ty) => kind(ty),
        syn::ReturnType::Default => String::new(),
    }
}

fn components(quantity: &Quantity) -> Result<&'static [&'static str]> {
    match quantity.kind.as_str() {
        "Real" => Ok(&[""]),
        "Vec3" => Ok(&["x", "y", "z"]),
        "Tensor" => Ok(&["xx", "xy", "xz", "yy", "yz", "zz"]),
        _ => Err(Error::new_spanned(&quantity.field.ty, "columns are Real, Vec3 or Tensor")),
    }
}

/// Generates `Columns` for a struct: conversion from and to an array of its components.
fn columns(item: &ItemStruct) -> Result<TokenStream> {
    let name = &item.ident;
    let (mut from, mut to, mut zip, mut count) = (Vec::new(), Vec::new(), Vec::new(), 0usize);
    for quantity in quantities(item) {
        let field = quantity.name;
        let parts = components(&quantity)?;
        let indices: Vec<usize> = (count..count + parts.len()).collect();
        count += parts.len();
        if parts.len() == 1 {
            from.push(quote!(#field: column(#(#indices)*)));
            to.push(quote!(self.#field));
            zip.push(quote!(#field: join(#(#indices)*, self.#field, other.#field)));
        } else {
            let (kind, parts) =
                (format_ident!("{}", quantity.kind), parts.iter().map(|p| format_ident!("{p}")));
            let parts: Vec<Ident> = parts.collect();
            from.push(quote!(#field: #kind { #(#parts: column(#indices)),* }));
            to.push(quote!(#(self.#field.#parts),*));
            zip.push(quote! {
                #field: #kind { #(#parts: join(#indices, self.#field.#parts, other.#field.#parts)),* }
            });
        }
    }
    Ok(quote! {
        impl<R: Real> Columns<R> for #name<R> {
            const COUNT: usize = #count;
            type Array = [R; #count];
            #[inline(always)]
            fn from_columns(mut column: impl FnMut(usize) -> R) -> Self { Self { #(#from),* } }
            #[inline(always)]
            fn to_columns(self) -> [R; #count] { [#(#to),*] }
            #[inline(always)]
            fn zip(self, other: Self, mut join: impl FnMut(usize, R, R) -> R) -> Self { Self { #(#zip),* } }
        }
    })
}

/// Generates the list of `Field`s that the struct's fields are named after, with a check of the number of
/// components.
fn fields(item: &ItemStruct) -> Result<TokenStream> {
    let mut list = Vec::new();
    for quantity in quantities(item) {
        let count = components(&quantity)?.len();
        let camel: String = quantity.name.to_string().split('_').map(capitalize).collect();
        let variant = Ident::new(&camel, quantity.name.span());
        list.push(quote! {{
            assert!(Field::#variant.components() == #count, "the field has another number of components");
            Field::#variant
        }});
    }
    Ok(quote!(&[#(#list),*]))
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns parity and reduction of each field of `Sums`, as variant names, and its number of components.
fn symmetry(sums: &ItemStruct) -> Result<Vec<(&'static str, &'static str, usize)>> {
    let mut list = Vec::new();
    for quantity in quantities(sums) {
        let (mut parity, mut reduction) = ("Neither", "Sum");
        for attribute in quantity.field.attrs.iter().filter(|a| !a.path().is_ident("doc")) {
            match attribute.path().get_ident().map(Ident::to_string).as_deref() {
                Some("odd") => parity = "Odd",
                Some("even") => parity = "Even",
                Some("min") => reduction = "Minimum",
                Some("max") => reduction = "Maximum",
                _ => return Err(Error::new_spanned(attribute, "sums are #[odd], #[even], #[min] or #[max]")),
            }
        }
        if parity == "Odd" && reduction != "Sum" {
            return Err(Error::new_spanned(
                quantity.field,
                "an odd quantity has no minimum or maximum of both sides",
            ));
        }
        list.push((parity, reduction, components(&quantity)?.len()));
    }
    Ok(list)
}

fn required<'a>(module: &'a Module, name: &str) -> Result<&'a ItemStruct> {
    module.structure(name).ok_or_else(|| {
        Error::new(proc_macro2::Span::call_site(), format!("a pair law needs `struct {name}`"))
    })
}

/// Checks argument types and return type of a function. Returns false if the module has no such function.
fn signature(module: &Module, name: &str, wanted: &[&str], output: &str) -> Result<bool> {
    let Some(function) = module.function(name) else { return Ok(false) };
    let given = |argument: &syn::FnArg| match argument {
        syn::FnArg::Typed(typed) => kind(&typed.ty),
        syn::FnArg::Receiver(_) => String::new(),
    };
    let types: Vec<String> = function.sig.inputs.iter().map(given).collect();
    if types != wanted || return_type_name(function) != output {
        let message = format!("the arguments of {name} are ({}) -> {output}", wanted.join(", "));
        return Err(Error::new_spanned(&function.sig, message));
    }
    Ok(true)
}

/// The fields of a struct of constants, lifted to lanes.
fn lifted(item: &ItemStruct) -> impl Iterator<Item = TokenStream> {
    let token = token();
    quantities(item).into_iter().map(move |quantity| {
        let field = quantity.name;
        match quantity.kind.as_str() {
            "Real" => quote!(#field: R::literal(#token, self.#field)),
            _ => quote!(#field: self.#field.lift(#token)),
        }
    })
}

/// The fields of a struct of constants as C++ initializers.
fn texts(item: &ItemStruct) -> impl Iterator<Item = TokenStream> {
    quantities(item).into_iter().map(|quantity| {
        let field = quantity.name;
        match quantity.kind.as_str() {
            "Real" => quote!(device_text::real(self.#field)),
            _ => quote!(self.#field.device_text()),
        }
    })
}

/// The C++ definitions that the fields of a law's constants need: only a `RadialEnergy` has any.
fn definitions(item: &ItemStruct) -> TokenStream {
    let radial = quantities(item).into_iter().filter(|quantity| quantity.kind == "RadialEnergy");
    let texts: Vec<_> = radial.map(|quantity| quantity.name).collect();
    match texts.as_slice() {
        [] => quote!(),
        names => quote! {
            fn device_definitions(&self) -> String { [#(self.#names.device_definitions()),*].concat() }
        },
    }
}

/// What a law needs of a struct among its constants: in lanes, and as a C++ initializer.
pub fn constants_of(item: &ItemStruct) -> TokenStream {
    let (name, token) = (&item.ident, token());
    let (lifted, texts) = (lifted(item), texts(item));
    quote! {
        impl #name<f64> {
            /// The same constants for lanes.
            #[inline(always)]
            pub fn lift<R: Real>(&self, #token: R::Token) -> #name<R> { #name { #(#lifted),* } }
            /// The constants as a C++ initializer.
            pub fn device_text(&self) -> String { format!("{{{}}}", device_text::list(&[#(#texts),*])) }
        }
    }
}

/// Generates the implementations of `Columns` and `PairLaw`. `known` is the number of values that depend on
/// the distance alone.
pub fn implementation(name: &Ident, module: &Module, cutoff: &Ident, known: usize) -> Result<TokenStream> {
    let (law, sums) = (required(module, "Law")?, required(module, "Sums")?);
    let particle = module.structure("Particle");
    let prepares = signature(module, "prepare", &["Law", "Particle"], "Prepared")?;
    if prepares != module.structure("Prepared").is_some() {
        return Err(Error::new_spanned(name, "`struct Prepared` and `fn prepare` come together"));
    }
    let interact: &[&str] = match (particle, prepares) {
        (_, true) => &["Law", "Prepared", "Prepared", "Vec3", "Real"],
        (Some(_), false) => &["Law", "Particle", "Particle", "Vec3", "Real"],
        (None, false) => &["Law", "Vec3", "Real"],
    };
    if !signature(module, "interact", interact, "Sums")? {
        return Err(Error::new_spanned(name, "a pair law needs `fn interact`"));
    }
    let finish: &[&str] = if particle.is_some() { &["Law", "Particle", "Sums"] } else { &["Law", "Sums"] };
    let finishes = signature(module, "finish", finish, "Output")?;
    if finishes != module.structure("Output").is_some() {
        return Err(Error::new_spanned(name, "`struct Output` and `fn finish` come together"));
    }

    let token = token();
    let (parameters, constants, definitions) = (lifted(law), texts(law), definitions(law));
    let symmetry = symmetry(sums)?.into_iter().flat_map(|(parity, reduction, count)| {
        let (parity, reduction) = (format_ident!("{parity}"), format_ident!("{reduction}"));
        std::iter::repeat_n(quote!(Sum { parity: Parity::#parity, reduction: Reduction::#reduction }), count)
    });
    let output_struct = if finishes { required(module, "Output")? } else { sums };
    let output = &output_struct.ident;
    let outputs = fields(output_struct)?;
    let mut all_columns = vec![columns(sums)?];
    if finishes {
        all_columns.push(columns(output_struct)?);
    }
    let (input_type, inputs) = match particle {
        Some(item) => {
            all_columns.push(columns(item)?);
            (quote!(Particle<R>), fields(item)?)
        }
        None => (quote!(NoInput<R>), quote!(&[])),
    };
    let (prepared_type, prepare_call) = match prepares {
        true => {
            all_columns.push(columns(required(module, "Prepared")?)?);
            (quote!(Prepared<R>), quote!(prepare(#token, law, particle)))
        }
        false => (input_type.clone(), quote!(particle)),
    };
    let input_f64 = if particle.is_some() { quote!(Particle<f64>) } else { quote!(NoInput<f64>) };
    let interact_arguments = if particle.is_some() { quote!(law, i, j, r, r2) } else { quote!(law, r, r2) };
    let distance = format_ident!("{}", distance::NAME);
    let finish_call = match (finishes, particle.is_some()) {
        (true, true) => quote!(finish((), *self, i, sums)),
        (true, false) => quote!(finish((), *self, sums)),
        _ => quote!(sums),
    };
    let name = name.to_string();
    Ok(quote! {
        #(#all_columns)*

        #[allow(unused_variables)]
        impl PairLaw for Law<f64> {
            const NAME: &'static str = #name;
            const CUTOFF: Cutoff = Cutoff::#cutoff;
            const INPUTS: &'static [Field] = #inputs;
            const OUTPUTS: &'static [Field] = #outputs;
            const SUMS: &'static [Sum] = &[#(#symmetry),*];
            type Parameters<R: Real> = Law<R>;
            const PREPARES: bool = #prepares;
            type Particle<R: Real> = #input_type;
            type Prepared<R: Real> = #prepared_type;
            type Sums<R: Real> = Sums<R>;
            type Distance<R: Real> = [R; #known];
            type Output = #output<f64>;
            #[inline(always)]
            fn parameters<R: Real>(&self, #token: R::Token) -> Law<R> { Law { #(#parameters),* } }
            fn constants(&self) -> String { device_text::list(&[#(#constants),*]) }
            #definitions
            #[inline(always)]
            fn prepare<R: Real>(#token: R::Token, law: Law<R>, particle: #input_type) -> #prepared_type {
                #prepare_call
            }
            #[inline(always)]
            fn distance<R: Real>(#token: R::Token, r2: R) -> [R; #known] { #distance(#token, r2) }
            #[inline(always)]
            fn interact_at<R: Real>(
                #token: R::Token, law: Law<R>, i: #prepared_type, j: #prepared_type, r: Vec3<R>, r2: R,
                distance: [R; #known],
            ) -> Sums<R> {
                interact(#token, #interact_arguments, distance)
            }
            #[inline(always)]
            fn finish(&self, i: #input_f64, sums: Sums<f64>) -> #output<f64> { #finish_call }
        }
    })
}

/// Generates the same data for CUDA C++: numbers of columns, and codes of symmetry (0 neither, 1 even, -1
/// odd) and reduction (0 sum, -1 minimum, 1 maximum) for each column of `Sums`.
pub fn tables(module: &Module) -> Result<String> {
    let count = |name: &str| -> Result<usize> {
        let Some(item) = module.structure(name) else { return Ok(0) };
        quantities(item).iter().map(|quantity| Ok(components(quantity)?.len())).sum()
    };
    let (mut parities, mut reductions) = (Vec::new(), Vec::new());
    for (parity, reduction, count) in symmetry(required(module, "Sums")?)? {
        let parity = [("Neither", "0"), ("Even", "1"), ("Odd", "-1")]
            .iter()
            .find(|p| p.0 == parity)
            .map_or("", |p| p.1);
        let reduction = [("Sum", "0"), ("Minimum", "-1"), ("Maximum", "1")]
            .iter()
            .find(|r| r.0 == reduction)
            .map_or("", |r| r.1);
        parities.extend(std::iter::repeat_n(parity, count));
        reductions.extend(std::iter::repeat_n(reduction, count));
    }
    let prepared =
        if module.structure("Prepared").is_some() { count("Prepared")? } else { count("Particle")? };
    let outputs = if module.structure("Output").is_some() { count("Output")? } else { count("Sums")? };
    Ok(format!(
        "constexpr int INPUTS = {}, PREPARED = {prepared}, SUMS = {}, OUTPUTS = {outputs};\nconstexpr int PARITY[] = {{{}}};\nconstexpr int REDUCTION[] = {{{}}};\n\n",
        count("Particle")?,
        count("Sums")?,
        parities.join(", "),
        reductions.join(", ")
    ))
}
