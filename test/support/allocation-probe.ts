/**
 * Tells, as JSON by name, whether the collector ran while a million messages were packed in each dialect of 1987,
 * and while one small object was made a million times. A process of its own: in a large heap the collector waits
 * for more than that.
 */
import { CardMessage, createMessagePacker, createPacker, dialects } from '#codecs/iso8583'

const times = 1_000_000

const encoder = new TextEncoder()

const message = (): CardMessage => {
  const made = new CardMessage()
  made.pan = encoder.encode('4111111111111111')
  made.processingCode = '003000'
  made.amount = '000000012345'
  made.stan = '000001'
  made.acquirerId = '12345'
  made.track2 = encoder.encode('4111111111111111=28121010000')
  made.rrn = '632414000001'
  made.terminalId = 'TERM0001'
  made.currency = '986'
  made.pinBlock = new Uint8Array(8)
  made.originalData = '0'.repeat(42)
  return made
}

const runMany = (work: () => unknown): unknown => {
  let last: unknown
  for (let i = 0; i < times; i++) last = work()
  return last
}

/**
 * True when the collector ran meanwhile. It runs when enough was allocated, and in one turn of the event loop for
 * no other reason; then it takes an object that nobody holds.
 */
const isCollectedDuring = async (work: () => unknown): Promise<boolean> => {
  // What is compiled on the way must not count.
  runMany(work)
  Bun.gc(true)
  const watched = (() => new WeakRef({ nobody: 'holds it' }))()
  // An object lives on to the end of the turn that made its reference.
  await new Promise((resolve) => setImmediate(resolve))
  if (runMany(work) === undefined) throw new Error('nothing was done')
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)))
  return watched.deref() === undefined
}

const kept: { last: object } = { last: {} }
const collected: Record<string, boolean> = {
  control: await isCollectedDuring(() => {
    kept.last = { of: kept.last === undefined }
    return kept
  }),
}
for (const [name, dialect] of Object.entries(dialects)) {
  if (dialect.version !== '1987') continue
  const pack = createMessagePacker(createPacker(dialect))
  const out = new Uint8Array(512)
  const given = message()
  collected[name] = await isCollectedDuring(() => pack(given, out))
}
process.stdout.write(JSON.stringify(collected))
