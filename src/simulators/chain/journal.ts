/**
 * A chain that outlives its process: the contents of each block are written to a file before it is mined, and run
 * again at the next start. The engine decides everything else from that, so that blocks, hashes and receipts are the
 * same. Blocks come when there is something to mine, and now and then for the time that contracts read.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import {
  createEngine,
  demand,
  type Engine,
  type EngineOptions,
  type RpcOutcome,
  sendMethod,
} from './engine.ts'

/** Sent calls, and blocks with some: running one again takes about half a millisecond. */
const entriesMax = 50_000
/** The empty blocks of a hundred days: a tenth of a millisecond and a kilobyte each. */
const emptyBlocksMax = 300_000
/** A gateway takes a network that makes no blocks for one that stands still. */
const idleMs = 30_000

const header = z.strictObject({ journal: z.literal(1), genesis: z.int().positive() })
const block = z.strictObject({
  /** Seconds since 1970. */
  at: z.int().positive(),
  /** The calls since the block before, in order: method and parameters. */
  sent: z.array(z.tuple([z.string(), z.array(z.unknown())])),
})

type Block = z.infer<typeof block>
type Journal = { readonly genesis: number; readonly blocks: readonly Block[] }

export type JournalOptions = Omit<EngineOptions, 'mining' | 'genesisSeconds'> & {
  readonly path: string
  /** Time from a transaction to its block, in milliseconds. */
  readonly blockTimeMs: number
}

export type JournaledEngine = {
  readonly engine: Engine
  readonly mine: () => Promise<void>
  /** The file was there, and the chain goes on where it ended. */
  readonly isContinued: boolean
  /** Where we have put a chain that could not be run again. */
  readonly setAside: string | undefined
  readonly stop: () => Promise<void>
}

/**
 * A file that cannot be run again is set aside: the chain begins anew, as if there were none.
 *
 * @throws Error where the file holds something else than a chain
 */
export const createJournaledEngine = async (options: JournalOptions): Promise<JournaledEngine> => {
  const { path } = options
  const isThere = existsSync(path) && readFileSync(path).length > 0
  const kept = isThere ? readJournal(path) : undefined
  const continued = kept === undefined ? undefined : await replay(kept, options)
  if (continued !== undefined) return run(continued, options, { isContinued: true })
  const setAside = isThere ? `${path}.${new Date().toISOString().replaceAll(':', '-')}` : undefined
  if (setAside !== undefined) renameSync(path, setAside)
  const genesis = seconds()
  writeFileSync(path, line({ journal: 1, genesis }))
  return run(await begin(genesis, options), options, { isContinued: false, setAside })
}

const begin = (genesisSeconds: number, options: JournalOptions): Promise<Engine> =>
  createEngine({ ...options, mining: 'manual', genesisSeconds })

const line = (value: object): string => `${JSON.stringify(value)}\n`

const seconds = (): number => Math.floor(Date.now() / 1000)

/** @returns undefined if it cannot be read to its end, or is too long to be run again. @throws Error if it is none */
const readJournal = (path: string): Journal | undefined => {
  const lines = readFileSync(path, 'utf8').split('\n')
  // A line without a break at its end was never written whole, and its block never mined.
  const rest = lines.pop() ?? ''
  const first = lines[0] ?? rest
  const genesis = genesisIn(first)
  if (genesis === undefined) {
    if (lines.length === 0 && isHeaderCut(rest)) return undefined
    throw new Error(`${path} holds something else than a chain`)
  }
  try {
    const blocks = lines.slice(1).map((each) => block.parse(JSON.parse(each)))
    const filled = blocks.filter(({ sent }) => sent.length > 0)
    const entries = filled.reduce((sum, { sent }) => sum + 1 + sent.length, 0)
    if (entries > entriesMax || blocks.length - filled.length > emptyBlocksMax) return undefined
    // The first line tells all that it has to, with or without its line break.
    if (rest !== '') writeFileSync(path, `${[first, ...lines.slice(1)].join('\n')}\n`)
    return { genesis, blocks }
  } catch {
    return undefined
  }
}

const headerStart = '{"journal":1,"genesis":'

/** Whether a process may have been killed while it wrote the first line: there was no chain yet. */
const isHeaderCut = (text: string): boolean =>
  headerStart.startsWith(text) ||
  (text.startsWith(headerStart) && /^\d+$/.test(text.slice(headerStart.length)))

const genesisIn = (first: string): number | undefined => {
  try {
    return header.parse(JSON.parse(first)).genesis
  } catch {
    return undefined
  }
}

const replay = async (
  { genesis, blocks }: Journal,
  options: JournalOptions,
): Promise<Engine | undefined> => {
  const engine = await begin(genesis, options)
  for (const { at, sent } of blocks) {
    for (const [method, params] of sent) {
      const outcome = await engine.request(method, params)
      if ('error' in outcome) return undefined
    }
    await mineAt(engine, at)
  }
  return engine
}

const mineAt = async (engine: Engine, at: number): Promise<void> => {
  await demand(engine, 'evm_mine', at)
}

/** The methods that change the state, and are therefore written down. */
const kept: ReadonlySet<string> = new Set([
  sendMethod,
  'eth_sendTransaction',
  'hardhat_impersonateAccount',
  'hardhat_setBalance',
])

/** The methods that steer the engine; the effects of an unwritten one would be gone at the next start. */
const steering = /^(?:evm|hardhat)_/
/** Change nothing by themselves. */
const harmless: ReadonlySet<string> = new Set(['evm_snapshot', 'hardhat_metadata'])

const refused = (method: string): RpcOutcome => ({
  error: { code: -32604, message: `Method not enabled: a chain in a file does not keep ${method}` },
})

const run = (
  engine: Engine,
  options: JournalOptions,
  {
    isContinued,
    setAside,
  }: { readonly isContinued: boolean; readonly setAside?: string | undefined },
): JournaledEngine => {
  let sent: [string, readonly unknown[]][] = []
  /** Ends when nothing is being sent or mined: a block holds exactly what was written down for it. */
  let turn: Promise<unknown> = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work, work)
    turn = done
    return done
  }
  const mineNow = async (): Promise<void> => {
    const latest = await demand(engine, 'eth_getBlockByNumber', 'latest', false)
    const { timestamp } = latest as { readonly timestamp: string }
    const at = Math.max(seconds(), Number(timestamp))
    const inBlock = sent
    sent = []
    appendFileSync(options.path, line({ at, sent: inBlock }))
    await mineAt(engine, at)
  }
  const mine = (): Promise<void> => inTurn(mineNow)
  const schedule = (inMs: number): void => {
    clearTimeout(timer)
    if (isStopped) return
    timer = setTimeout(async () => {
      await mine()
      schedule(sent.length > 0 ? options.blockTimeMs : idleMs)
    }, inMs)
  }
  schedule(idleMs)
  const note = (outcome: RpcOutcome, method: string, params: readonly unknown[]): void => {
    if ('error' in outcome) return
    sent.push([method, params])
    if (sent.length === 1) schedule(options.blockTimeMs)
  }
  return {
    engine: {
      ...engine,
      async request(method, params = []) {
        if (method === 'evm_mine' && params.length === 0) {
          await mine()
          return { result: '0' }
        }
        if (!kept.has(method)) {
          const isRefused = steering.test(method) && !harmless.has(method)
          return isRefused ? refused(method) : engine.request(method, params)
        }
        return inTurn(async () => {
          const outcome = await engine.request(method, params)
          note(outcome, method, params)
          return outcome
        })
      },
      send: (raws) =>
        inTurn(async () => {
          const outcomes = await engine.send(raws)
          for (const [i, outcome] of outcomes.entries()) note(outcome, sendMethod, [raws[i]])
          return outcomes
        }),
    },
    mine,
    isContinued,
    setAside,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await inTurn(async () => {})
      if (sent.length > 0) await mine()
    },
  }
}
