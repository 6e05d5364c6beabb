import { bundleConsole } from './bundle.ts'

/** A file of the console, compressed once. */
export type Asset = {
  readonly contentType: string
  /** In base64. */
  readonly raw: string
  readonly gzip: string
  readonly brotli: string
}

/** The console's browser side. The names hold a hash of what they name. */
export type Assets = {
  readonly script: string
  readonly style: string
  readonly icon: string
  readonly files: Readonly<Record<string, Asset>>
}

let made: Promise<Assets> | undefined

/** Made from the sources at first use. A release holds the finished files in place of this module. */
export const loadAssets = (): Promise<Assets> => {
  made ??= bundleConsole(`${import.meta.dir}/browser`)
  return made
}
