import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildConfig, BunPlugin } from 'bun'
import type { Assets } from '../../src/console/assets.ts'
import { bundleConsole } from '../../src/console/bundle.ts'

/** The Kafka client's checksums read a .wasm file beside them; their bundled form carries it inside. */
const inlineWasm: BunPlugin = {
  name: 'inline-wasm',
  setup: (build) => {
    build.onResolve({ filter: /^@platformatic\/wasm-utils$/ }, ({ importer }) => ({
      path: Bun.resolveSync('@platformatic/wasm-utils/bundled', dirname(importer)),
    }))
  },
}

/** Bun replaces these names by paths of the machine that builds, which exist on no other. */
const placeless: BunPlugin = {
  name: 'placeless',
  setup: (build) => {
    build.onLoad({ filter: /\/node_modules\/.*\.c?js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const file = path.slice(path.lastIndexOf('/node_modules/'))
      const contents = text
        .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(file)))
        .replaceAll(/\b__filename\b/g, JSON.stringify(file))
      return contents === text ? undefined : { contents, loader: 'js' }
    })
  },
}

/** A release holds the finished files of the console, not the code that makes them. */
const consoleAssets = (assets: Assets): BunPlugin => ({
  name: 'console-assets',
  setup: (build) => {
    build.onLoad({ filter: /\/src\/console\/assets\.ts$/ }, () => ({
      contents: `export const loadAssets = async () => (${JSON.stringify(assets)})`,
      loader: 'js',
    }))
  },
})

/** Threads start from files of their own beside the program, where their owners look for them. */
export const threads = [
  'src/certificates/pkcs12-worker.ts',
  'src/spi/api/large/large-document-worker.ts',
  'src/spi/in/worker/large-inbound-worker.ts',
] as const

const entries = (root: string) => ['src/main.ts', ...threads].map((file) => join(root, file))

const bundle = async (root: string, more: Partial<BuildConfig>): Promise<void> => {
  // This comes first: a bundler that waits for another one waits for ever.
  const assets = await bundleConsole(join(root, 'src/console/browser'))
  const before = process.cwd()
  // The bundler names the parts of a program by their paths from the working directory.
  process.chdir(root)
  const result = await Bun.build({
    entrypoints: entries(root),
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    minify: true,
    // Code that is imported when first needed stays out of what every start evaluates.
    splitting: true,
    plugins: [inlineWasm, placeless, consoleAssets(assets)],
    ...more,
  } as BuildConfig).finally(() => process.chdir(before))
  for (const log of result.logs) console.error(log)
  if (!result.success) throw new Error('the bundler failed')
}

/**
 * One file that needs nothing beside it: program, runtime, and every asset the code imports. The same sources and
 * packages give the same bytes in any directory.
 *
 * @param root - a checkout with node_modules
 * @param outfile - an absolute path
 * @param foreign - another platform and its executable of Bun. Bytecode is left to be made at the start.
 */
export const compile = async (
  root: string,
  outfile: string,
  foreign?: { readonly platform: string; readonly runtime: string },
): Promise<void> => {
  await mkdir(dirname(outfile), { recursive: true })
  const target = `bun-${foreign?.platform}` as Bun.Build.CompileTarget
  await bundle(
    root,
    foreign === undefined
      ? { compile: { outfile }, bytecode: true }
      : { compile: { outfile, target, executablePath: foreign.runtime } },
  )
}

/** Scripts for Bun in a directory; they look for `external` packages beside them. */
export const bundleScripts = (
  root: string,
  outdir: string,
  external: readonly string[],
): Promise<void> => bundle(root, { outdir, external: [...external] })
