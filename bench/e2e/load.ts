/*
 * Sends requests over HTTP from a process of its own; each client sends one after the other. Tells how long each took.
 *
 *   bun bench/e2e/load.ts '{"url": …, "key": …, "bodies": […], "count": …, "clients": …}'
 */
import { z } from 'zod'

export type Load = z.infer<typeof loadSchema>
export type LoadResult = { readonly latenciesMs: readonly number[]; readonly refused: number }

const loadSchema = z.object({
  url: z.string(),
  key: z.string(),
  /** Taken in turns. */
  bodies: z.array(z.unknown()),
  count: z.int(),
  clients: z.int(),
})

const load = loadSchema.parse(JSON.parse(process.argv[2] ?? ''))
const latenciesMs: number[] = []
let refused = 0
let left = load.count
const bodies = load.bodies.map((each) => JSON.stringify(each))

const send = async (): Promise<void> => {
  const startMs = performance.now()
  const response = await fetch(load.url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${load.key}`, 'Content-Type': 'application/json' },
    body: bodies[left % bodies.length],
  })
  const text = await response.text()
  if (response.status === 202) latenciesMs.push(performance.now() - startMs)
  else {
    if (refused++ === 0) console.error(response.status, text)
  }
}

const client = async (): Promise<void> => {
  while (left-- > 0) await send()
}

await Promise.all(Array.from({ length: load.clients }, client))
const result: LoadResult = { latenciesMs, refused }
console.log(JSON.stringify(result))
