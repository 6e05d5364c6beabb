import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Asset, Assets } from './assets.ts'

/**
 * Bundles and compresses the browser side.
 *
 * @param folder of its sources
 * @throws Error for sources that do not bundle
 */
export const bundleConsole = async (folder: string): Promise<Assets> => {
  const result = await Bun.build({
    entrypoints: [join(folder, 'main.tsx'), join(folder, 'style.css')],
    target: 'browser',
    format: 'esm',
    minify: true,
    naming: '[name]-[hash].[ext]',
  })
  if (!result.success) throw new Error(`the console does not bundle: ${result.logs.join('\n')}`)
  const files: Record<string, Asset> = {}
  const add = (name: string, bytes: Uint8Array): string => {
    const extension = name.slice(name.lastIndexOf('.') + 1)
    files[name] = assetOf(bytes, contentTypes[extension] ?? 'application/octet-stream')
    return name
  }
  const named = async (extension: string): Promise<string> => {
    const output = result.outputs.find(({ path }) => path.endsWith(`.${extension}`))
    if (output === undefined) throw new Error(`the console has no .${extension}`)
    return add(output.path.slice(output.path.lastIndexOf('/') + 1), await bytesOf(output))
  }
  const icon = await Bun.file(join(folder, 'icon.svg')).bytes()
  return {
    script: await named('js'),
    style: await named('css'),
    icon: add(`icon-${Bun.hash(icon).toString(36)}.svg`, icon),
    files,
  }
}

const bytesOf = async (output: Blob): Promise<Uint8Array> =>
  new Uint8Array(await output.arrayBuffer())

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const assetOf = (bytes: Uint8Array, contentType: string): Asset => ({
  contentType,
  raw: bytes.toBase64(),
  gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
  brotli: brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  }).toString('base64'),
})
