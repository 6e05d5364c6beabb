import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BunPlugin } from 'bun'

/*
 * One file that needs nothing beside it: program, runtime, and every asset the code imports.
 *
 *   bun scripts/build.ts [outfile]     default: dist/trilho
 */

const root = join(import.meta.dir, '..')

/** The Kafka client's checksums read a .wasm file beside them; their other form carries it inside. */
const inlineWasm: BunPlugin = {
  name: 'inline-wasm',
  setup: (build) => {
    build.onResolve({ filter: /^@platformatic\/wasm-utils$/ }, ({ importer }) => ({
      path: Bun.resolveSync('@platformatic/wasm-utils/bundled', dirname(importer)),
    }))
  },
}

/** Bun writes the path of the machine that builds for these; in the executable it would lead nowhere. */
const placeless: BunPlugin = {
  name: 'placeless',
  setup: (build) => {
    build.onLoad({ filter: /node_modules\/.*\.c?js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      if (!/\b__(?:dir|file)name\b/.test(text)) return undefined
      const name = path.slice(path.lastIndexOf('node_modules/'))
      const contents = text
        .replaceAll(/\b__dirname\b/g, JSON.stringify(`/${dirname(name)}`))
        .replaceAll(/\b__filename\b/g, JSON.stringify(`/${name}`))
      return { contents, loader: 'js' }
    })
  },
}

const build = async (outfile: string): Promise<void> => {
  await mkdir(dirname(outfile), { recursive: true })
  const result = await Bun.build({
    // Threads start from files of their own; beside the program, where their owners look for them.
    entrypoints: [join(root, 'src/main.ts'), join(root, 'src/certificates/pkcs12-worker.ts')],
    naming: { entry: '[name].[ext]' },
    compile: { outfile },
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    plugins: [inlineWasm, placeless],
  })
  for (const log of result.logs) console.error(log)
  if (!result.success) process.exit(1)
  const { size } = Bun.file(outfile)
  console.log(`${outfile}: ${(size / 1e6).toFixed(1)} MB`)
}

await build(process.argv[2] ?? join(root, 'dist/trilho'))
