import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Where the report lies, unless `--out` says otherwise. */
export const outDirectory = join(import.meta.dir, 'out')

const folder = 'curves'

const curveSchema = z.object({
  title: z.string(),
  /** What the axes show, with their units. */
  x: z.string(),
  y: z.string(),
  lines: z.array(
    z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) }),
  ),
})

/** How one thing grows with another, as a measurement of whole payments found it. Both axes are logarithmic. */
export type Curve = z.infer<typeof curveSchema>

/** Keeps it for the page of the next report, in place of what the same measurement found before. */
export const writeCurve = (name: string, curve: Curve, directory = outDirectory): void => {
  mkdirSync(join(directory, folder), { recursive: true })
  writeFileSync(join(directory, folder, `${name}.json`), `${JSON.stringify(curve)}\n`)
}

/** Those that were measured. @throws ZodError if a file is none */
export const readCurves = (directory: string): readonly Curve[] => {
  mkdirSync(join(directory, folder), { recursive: true })
  return readdirSync(join(directory, folder))
    .toSorted()
    .map((name) =>
      curveSchema.parse(JSON.parse(readFileSync(join(directory, folder, name), 'utf8'))),
    )
}
