//! What all laws of molecules have in common, added where a law does not have its own.

use crate::Module;
use syn::{ItemFn, parse_quote};

/// Add sums, outputs and `finish` of a law of molecules, where the module lacks them.
pub fn complete(module: &mut Module) {
    if module.structure("Sums").is_none() {
        module.structs.push(parse_quote! {
            struct Sums {
                #[odd]
                force: Vec3,
                #[even]
                energy: Real,
                #[even]
                virial: Real,
            }
        });
    }
    if module.structure("Output").is_none() {
        module.structs.push(parse_quote! {
            struct Output {
                force: Vec3,
                pair_energy: Real,
                virial: Real,
            }
        });
    }
    if module.function("finish").is_none() {
        let mut finish: ItemFn = parse_quote! {
            /// Half of each pair's energy and virial.
            fn finish(law: Law, sums: Sums) -> Output {
                Output { force: sums.force, pair_energy: 0.5 * sums.energy, virial: 0.5 * sums.virial }
            }
        };
        if module.structure("Particle").is_some() {
            finish.sig.inputs.insert(1, parse_quote!(i: Particle));
        }
        module.functions.push(finish);
    }
}
