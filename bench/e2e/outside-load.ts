import { join } from 'node:path'
import { z } from 'zod'
import { temporaryDirectory } from '../../test/support/temporary.ts'

const times = z.object({
  count: z.int(),
  p50_ms: z.number(),
  p99_ms: z.number(),
  p999_ms: z.number(),
})

const resultSchema = z.object({
  seconds: z.number(),
  done: times,
  refused: times,
  /** Answers that are neither a success nor a refusal, by status or error. */
  other: z.record(z.string(), z.int()),
})

export type OutsideResult = z.infer<typeof resultSchema>

/**
 * Either `clients`, who each wait for an answer before they ask again, or `rate`: requests a second that never wait.
 */
export type OutsideLoad = {
  readonly url: string
  readonly method: string
  /** Taken in turns, added to `url`. */
  readonly paths: readonly string[]
  /** Taken in turns, as JSON. */
  readonly bodies: readonly unknown[]
  readonly key: string
  readonly seconds: string
  readonly clients?: string
  readonly rate?: number
}

/**
 * Builds the load generator, a program of Go's standard library, which shares no work with what it measures.
 *
 * @throws Error if `go` is not found
 */
export const buildOutsideLoad = (): ((load: OutsideLoad) => Promise<OutsideResult>) => {
  const generator = join(temporaryDirectory(), 'load')
  const source = join(import.meta.dir, 'overload/load.go')
  const { exitCode } = Bun.spawnSync(['go', 'build', '-o', generator, source], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) throw new Error('the load generator does not build')
  return async ({ url, method, paths, bodies, key, seconds, clients, rate }) => {
    const child = Bun.spawn([generator], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        URL: url,
        METHOD: method,
        PATHS: paths.join('\n'),
        BODY: bodies.map((body) => JSON.stringify(body)).join('\n'),
        KEY: key,
        SECONDS: seconds,
        ...(rate === undefined ? { CLIENTS: clients } : { RATE: String(Math.ceil(rate)) }),
      },
    })
    return resultSchema.parse(JSON.parse(await new Response(child.stdout).text()))
  }
}
