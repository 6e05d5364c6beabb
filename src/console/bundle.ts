import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { dialects } from '#codecs/iso8583'
import { inspectorNames } from '#src/platform/lifecycle/index.ts'
import type { Asset, Assets } from './assets.ts'

/** Served like everything else of the page, so that it looks the same on every machine. Both are under OFL-1.1. */
const fonts = [
  {
    family: 'Inter',
    weights: '100 900',
    stem: 'inter',
    file: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  },
  {
    family: 'IBM Plex Mono',
    weights: '400',
    stem: 'plex-mono',
    file: '@fontsource/ibm-plex-mono/files/ibm-plex-mono-latin-400-normal.woff2',
  },
]

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
    define: {
      builtInDialects: JSON.stringify(Object.keys(dialects)),
      inspectorNames: JSON.stringify(inspectorNames),
    },
  })
  if (!result.success) throw new Error(`the console does not bundle: ${result.logs.join('\n')}`)
  const files: Record<string, Asset> = {}
  // Names each file by a hash of its bytes: the bundler's own hash depends on the directory too, and a release must
  // not.
  const add = (bytes: Uint8Array, stem: string, extension: string): string => {
    const name = `${stem}-${Bun.hash(bytes).toString(36)}.${extension}`
    files[name] = assetOf(bytes, contentTypes[extension] ?? 'application/octet-stream')
    return name
  }
  const built = async (extension: string): Promise<Uint8Array> => {
    const output = result.outputs.find(({ path }) => path.endsWith(`.${extension}`))
    if (output === undefined) throw new Error(`the console has no .${extension}`)
    return bytesOf(output)
  }
  // We write them ourselves: the bundler would put fonts into the style sheet, which the policy of the page refuses.
  const faces: string[] = []
  // One after the other: files read at the same time would come in any order, and a release must not depend on it.
  for (const { family, weights, stem, file } of fonts) {
    const name = add(await Bun.file(Bun.resolveSync(file, folder)).bytes(), stem, 'woff2')
    faces.push(
      `@font-face{font-family:"${family}";font-weight:${weights};font-display:swap;src:url(${name})}`,
    )
  }
  const style = new TextEncoder().encode(faces.join(''))
  return {
    script: add(await built('js'), 'main', 'js'),
    style: add(Buffer.concat([style, await built('css')]), 'style', 'css'),
    icon: add(await Bun.file(join(folder, 'icon.svg')).bytes(), 'icon', 'svg'),
    files,
  }
}

const bytesOf = async (output: Blob): Promise<Uint8Array> =>
  new Uint8Array(await output.arrayBuffer())

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

const assetOf = (bytes: Uint8Array, contentType: string): Asset => ({
  contentType,
  raw: bytes.toBase64(),
  gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
  brotli: brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  }).toString('base64'),
})
