import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** The directory of the report, unless `--out` names another. */
export const outDirectory = join(import.meta.dir, 'out')

const folder = 'curves'

const curveSchema = z.object({
  title: z.string(),
  /** The labels of the axes, with their units. */
  x: z.string(),
  y: z.string(),
  lines: z.array(
    z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) }),
  ),
})

/** How one value grows with another in a measurement of whole payments. Both axes are logarithmic. */
export type Curve = z.infer<typeof curveSchema>

/** Keeps the curve for the next report's page, in place of the former curve of the same measurement. */
export const writeCurve = (name: string, curve: Curve, directory = outDirectory): void => {
  mkdirSync(join(directory, folder), { recursive: true })
  writeFileSync(join(directory, folder, `${name}.json`), `${JSON.stringify(curve)}\n`)
}

/** The curves measured so far. @throws ZodError if a file is not one */
export const readCurves = (directory: string): readonly Curve[] => {
  mkdirSync(join(directory, folder), { recursive: true })
  return readdirSync(join(directory, folder))
    .toSorted()
    .map((name) =>
      curveSchema.parse(JSON.parse(readFileSync(join(directory, folder, name), 'utf8'))),
    )
}
