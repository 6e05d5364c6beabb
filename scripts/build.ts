import { join, resolve } from 'node:path'
import { compile } from './release/bundle.ts'

/*
 * One file that needs nothing beside it: program, runtime, and every asset the code imports.
 *
 *   bun scripts/build.ts [outfile]     default: dist/trilho
 */

const root = join(import.meta.dir, '..')
const outfile = resolve(process.argv[2] ?? join(root, 'dist/trilho'))
await compile(root, outfile)
console.log(`${outfile}: ${(Bun.file(outfile).size / 1e6).toFixed(1)} MB`)
