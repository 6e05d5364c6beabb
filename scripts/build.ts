import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BunPlugin } from 'bun'

/*
 * One file that needs nothing beside it: program, runtime, and every asset the code imports.
 *
 *   bun scripts/build.ts [outfile]     default: dist/trilho
 */

const root = join(import.meta.dir, '..')

/**
 * The exporter of traces looks gRPC up when it first exports, which finds nothing in a single file, and the spans
 * would be lost in silence: import it like everything else.
 */
const exporterImportsGrpc: BunPlugin = {
  name: 'exporter-imports-grpc',
  setup: (builder) => {
    builder.onLoad({ filter: /otlp-grpc-exporter-base\/dist\/[\w-]+\.mjs$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const contents = text.replaceAll('__require("@grpc/grpc-js")', 'grpcLibrary')
      return { contents: `import * as grpcLibrary from "@grpc/grpc-js"\n${contents}`, loader: 'js' }
    })
  },
}

const build = async (outfile: string): Promise<void> => {
  await mkdir(dirname(outfile), { recursive: true })
  const result = await Bun.build({
    entrypoints: [join(root, 'src/main.ts')],
    compile: { outfile },
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    plugins: [exporterImportsGrpc],
  })
  for (const log of result.logs) console.error(log)
  if (!result.success) process.exit(1)
  const { size } = Bun.file(outfile)
  console.log(`${outfile}: ${(size / 1e6).toFixed(1)} MB`)
}

await build(process.argv[2] ?? join(root, 'dist/trilho'))
