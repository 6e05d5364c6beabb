import { expect, test } from 'bun:test'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { seeded } from '../support/contract-bench.ts'
import {
  createScriptedNetwork,
  type Peer,
  type ScriptedNetwork,
} from '../support/scripted-network.ts'

/*
 * A network that answers late, twice, against itself, with another card, with what cannot be read, or not at all, and
 * to which messages come late or never. In the end its book and ours are the same to the cent.
 */

const payments = process.env['TRILHO_LONG'] === '1' ? 3_000 : 80
const clients = 25
const timeoutMs = 120
const windowMs = 500
const settleMs = 30_000
const seed = Number(process.env['TRILHO_SEED'] ?? Date.now() % 100_000_000)

type Entry = { readonly stan: string; held: number; readonly captures: Map<string, number> }

/** The book of the issuer behind the network, by RRN. */
class Issuer {
  readonly entries = new Map<string, Entry>()

  act({ mti, stan = '', rrn = '', amount = '0', originalData = '' }: CardMessage): string {
    const entry = this.entries.get(rrn)
    if (mti === '0100') this.entries.set(rrn, { stan, held: Number(amount), captures: new Map() })
    else if (mti === '0200') entry?.captures.set(stan, Number(amount))
    else {
      const original = parseOriginalData(originalData)
      if (original.mti === '0200') return entry?.captures.delete(original.stan) ? '00' : '25'
      if (entry?.stan !== original.stan) return '25'
      entry.held = 0
    }
    return '00'
  }
}

const encoder = new TextEncoder()
/** An answer with a STAN and without a response code that can be read. */
const unreadable = ({ mti, stan }: CardMessage): Uint8Array =>
  Buffer.concat([
    encoder.encode(`${mti.slice(0, 2)}10`),
    Uint8Array.of(0, 0x20, 0, 0, 2, 0, 0, 0),
    encoder.encode(`${stan}\u0001\u0001`),
  ])

type Way = (context: {
  readonly request: CardMessage
  readonly act: () => string
  readonly answer: (change: Partial<CardMessage>) => void
  readonly peer: Peer
  readonly later: (ms: number, what: () => void) => void
}) => void

const approved = (responseCode: string) => ({ responseCode, authCode: 'A00001' })

const ways: Readonly<Record<string, Way>> = {
  plain: ({ act, answer }) => answer(approved(act())),
  slow: ({ act, answer, later }) => {
    const code = act()
    later(timeoutMs / 2, () => answer(approved(code)))
  },
  late: ({ act, answer, later }) => {
    const code = act()
    later(timeoutMs * 1.5, () => answer(approved(code)))
  },
  arrivesLate: ({ act, answer, later }) =>
    later(timeoutMs * 2, () => {
      answer(approved(act()))
    }),
  contradicts: ({ act, answer, later }) => {
    answer({ responseCode: '91' })
    later(10, () => answer(approved(act())))
  },
  twice: ({ act, answer }) => {
    const code = act()
    answer(approved(code))
    answer(approved(code))
  },
  otherCard: ({ act, answer, request }) => {
    const pan = request.pan?.slice().reverse()
    answer({ ...approved(act()), ...(pan === undefined ? {} : { pan }) })
  },
  garbage: ({ act, peer }) => {
    act()
    peer.frame(encoder.encode('no message at all'))
  },
  unreadable: ({ act, peer, request }) => {
    act()
    peer.frame(unreadable(request))
  },
  part: ({ act, answer }) => {
    act()
    answer({ responseCode: '10' })
  },
  silent: ({ act }) => void act(),
  lost: () => undefined,
}
const ofRequests = Object.keys(ways)
const ofReversals = ['plain', 'plain', 'slow', 'late', 'twice', 'unreadable', 'silent', 'lost']

/** Every other message meets the plain way, the rest all others in turn. */
const script = (network: ScriptedNetwork, issuer: Issuer) => {
  let open = 0
  const turns = { request: 0, reversal: 0 }
  const counts: Record<string, number> = {}
  /** For a time, whatever comes over this connection is lost. */
  let deadLane = -1
  network.on((request, peer) => {
    if (peer.lane === deadLane) return
    const isReversal = request.mti === '0400' || request.mti === '0401'
    const names = isReversal ? ofReversals : ofRequests
    const turn = turns[isReversal ? 'reversal' : 'request']++
    const name = turn % 2 === 0 ? 'plain' : (names[(turn >> 1) % names.length] ?? 'plain')
    counts[name] = (counts[name] ?? 0) + 1
    const copy = Object.assign(Object.create(Object.getPrototypeOf(request)), request, {
      pan: request.pan?.slice(),
    }) as CardMessage
    ways[name]?.({
      ...{ request: copy, peer },
      act: () => issuer.act(copy),
      answer: (change) => peer.answer({ ...fieldsOf(copy), ...change }),
      later: (ms, what) => {
        open++
        setTimeout(() => {
          open--
          what()
        }, ms)
      },
    })
  })
  return {
    counts,
    isQuiet: () => open === 0,
    killLane: (lane: number) => {
      deadLane = lane
    },
  }
}

/** What an answer repeats; the peer's own request object may hold another message by then. */
const fieldsOf = ({ pan, stan, rrn, amount, currency, terminalId }: CardMessage) => ({
  ...{ stan, rrn, amount, currency, terminalId },
  pan: pan?.slice(),
})

type Json = Readonly<Record<string, unknown>>

const pay = async (rig: CardsRig, amount: number, fate: number): Promise<void> => {
  const body = authorizationBody('tok_visa_approved', { amount, capture: fate < 20 })
  const response = await rig.post('/v1/transactions/authorize', body)
  expect([201, 502, 504]).toContain(response.status)
  const { id, status } = (await response.json()) as Json
  if (status !== 'authorized' && status !== 'captured') return
  const path = `/v1/transactions/${String(id)}`
  if (fate > 30 && fate < 60) {
    const part = fate < 45 ? undefined : { amount: Math.ceil(amount / 3) }
    await (await rig.post(`${path}/capture`, part)).body?.cancel()
  }
  if (fate > 50) await (await rig.post(`${path}/void`)).body?.cancel()
}

type Row = {
  readonly rrn: string
  readonly status: string
  readonly amount: number
  readonly captured: number
}

/** Where the books differ. */
const differences = (rows: readonly Row[], { entries }: Issuer): readonly string[] =>
  rows.flatMap(({ rrn, status, amount, captured }) => {
    const entry = entries.get(rrn)
    const stands = status === 'authorized' || status === 'captured'
    const ours = [stands ? amount : 0, status === 'captured' ? captured : 0]
    const sum = [...(entry?.captures.values() ?? [])].reduce((total, one) => total + one, 0)
    const theirs = [entry?.held ?? 0, sum]
    return ours.join() === theirs.join() ? [] : [`${rrn} ${status} ${ours}, network ${theirs}`]
  })

test(`${payments} payments over a hostile network: both books are equal in the end (seed ${seed})`, async () => {
  const pick = seeded(seed)
  const network = createScriptedNetwork()
  const issuer = new Issuer()
  const { counts, isQuiet, killLane } = script(network, issuer)
  await using rig = await createCardsRig({ timeoutMs, windowMs, poolSize: 4, networkA: network })
  let left = payments
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      if (left % 40 === 0) killLane(left % 80 === 0 ? 2 : -1)
      await pay(rig, 100 + pick(90_000), pick(100))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  killLane(-1)
  const read = () => rig.database.sql<Row[]>`
      select rrn, status, amount_cents::int as amount, coalesce(captured_cents, 0)::int as captured
      from card_transactions`
  const openOnes = () => rig.database.sql`
      select id, status, operation, needs_attention from card_transactions
      where status = 'pending' or operation is not null or needs_attention limit 5`
  const deadline = performance.now() + settleMs
  for (;;) {
    const open = await openOnes()
    const rows = await read()
    if (isQuiet() && open.length === 0 && differences(rows, issuer).length === 0) break
    if (performance.now() > deadline) {
      expect([open, differences(rows, issuer)]).toEqual([[], []] as never)
    }
    await Bun.sleep(50)
  }
  expect((await read()).length).toBe(payments)
  // Nothing was left out.
  for (const name of ofRequests) expect([name, counts[name] ?? 0]).not.toEqual([name, 0])
}, 120_000)
