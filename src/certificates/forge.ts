import type Forge from 'node-forge'

let loaded: typeof Forge | undefined

/** Loaded when first needed: most processes never decode PKCS#12, and loading it is a tenth of their start. */
export const forge = (): typeof Forge => {
  loaded ??= require('node-forge') as typeof Forge
  return loaded
}
