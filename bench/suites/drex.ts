/**
 * Digital currency: signing against ethers, and whole transfers through a gateway process of its own with PostgreSQL
 * and the embedded chain beside it.
 */

import { Wallet } from 'ethers'
import { migrate, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createSealer } from '#src/platform/security/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { managedSigner } from '../../src/drex/custody/signer.ts'
import { openStatuses } from '../../src/drex/domain.ts'
import { quietLogger } from '../../test/support/database.ts'
import { createRig, type Rig } from '../../test/support/drex-rig.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type Figure, type Group, type Mode, type Suite, smoke } from '../harness.ts'
import { percentile } from '../processes.ts'

const walletCount = 50
const fundsCents = 100_000_000n
const clients = 32
/**
 * The senders, the gateway, PostgreSQL and the chain share two cores, and the engine of the chain alone takes three
 * quarters of a millisecond for each transfer: `bench/e2e/transfers.ts` tells what the others take.
 */
const transfersPerSecond = 1_000
const requestsPerSecond = 100
const p99MsMax = 30

const key = Uint8Array.from({ length: 32 }, (_, i) => i + 1)
const sealer = createSealer(Uint8Array.from({ length: 32 }, (_, i) => 255 - i * 3))
const context = 'bench'
const sealed = sealer.seal(key, context)
const to = `0x${'22'.repeat(20)}` as const
const data = `0xa9059cbb${'22'.repeat(20).padStart(64, '0')}${'3a98'.padStart(64, '0')}` as const

const groups = (): readonly Group[] => {
  const signer = managedSigner(sealer, sealed, context)
  const wallet = new Wallet(`0x${Buffer.from(key).toString('hex')}`)
  const sum = (raw: string) => Number.parseInt(raw.slice(-8), 16)
  return [
    {
      name: 'signing a transfer',
      contenders: [
        {
          name: 'sealed key, opened for each signature',
          run: async (times) => {
            let checksum = 0
            for (let nonce = 0; nonce < times; nonce++) {
              const signed = await signer.signTransaction({
                chainId: 381_660_001,
                nonce,
                gasLimit: 150_000n,
                fees: { kind: 'legacy', gasPrice: 0n },
                to,
                value: 0n,
                data,
              })
              checksum = (checksum + sum(signed.raw)) % 2 ** 40
            }
            return checksum
          },
        },
        {
          name: 'ethers Wallet.signTransaction',
          run: async (times) => {
            let checksum = 0
            for (let nonce = 0; nonce < times; nonce++) {
              const raw = await wallet.signTransaction({
                type: 0,
                chainId: 381_660_001,
                nonce,
                gasLimit: 150_000n,
                gasPrice: 0n,
                to,
                value: 0n,
                data,
              })
              checksum = (checksum + sum(raw)) % 2 ** 40
            }
            return checksum
          },
        },
      ],
      goals: [
        {
          ours: 'sealed key, opened for each signature',
          peer: 'ethers Wallet.signTransaction',
          atLeast: 2,
        },
      ],
      sameWork: ['sealed key, opened for each signature', 'ethers Wallet.signTransaction'],
    },
  ]
}

const figures = async (mode: Mode): Promise<readonly Figure[]> => {
  const directory = temporaryDirectory()
  const postgres = await startEmbeddedPostgres({ directory })
  await migrate(postgres.url, migrations, quietLogger)
  const rig = await createRig(postgres.url)
  try {
    await rig.start()
    const isSmoke = mode === smoke
    const wallets = await rig.wallets(isSmoke ? 5 : walletCount, fundsCents)
    await throughput(rig, wallets, isSmoke ? 10 : 1_000)
    return [
      await throughput(rig, wallets, isSmoke ? 100 : 10_000),
      await latency(rig, wallets, isSmoke ? 1 : 30),
    ]
  } finally {
    await rig.stop()
    await postgres.stop()
  }
}

const transfer = (wallets: readonly string[], i: number) => ({
  from_wallet: wallets[i % wallets.length],
  to_wallet: wallets[(i + 1) % wallets.length],
  amount: '0.01',
})

/** Transfers a second from the first request to the last confirmation; we count each one at the end. */
const throughput = async (rig: Rig, wallets: readonly string[], count: number): Promise<Figure> => {
  const before = performance.now()
  const accepted: string[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let i = next++; i < count; i = next++) {
        const { status, json } = await rig.call('POST', '/v1/drex/transfers', transfer(wallets, i))
        if (status !== 202) throw new Error(`transfer ${i} answered ${status}`)
        accepted.push((json as Page['transfers'][number]).transfer_id)
      }
    }),
  )
  const acceptedMs = performance.now() - before
  while (!(await isOver(rig))) await Bun.sleep(100)
  const ms = performance.now() - before
  await requireConfirmed(rig, accepted)
  const rate = Math.round((count / ms) * 1000)
  console.error(`  ${count} transfers: accepted in ${Math.round(acceptedMs)} ms, ${rate}/s in all`)
  return {
    name: `${count} transfers from ${wallets.length} wallets, accepted to confirmed`,
    value: ms,
    unit: 'ms',
    atMost: (count / transfersPerSecond) * 1000,
  }
}

type Page = {
  readonly transfers: readonly { readonly transfer_id: string }[]
  readonly next_cursor: string | null
}

const listed = async ({ call }: Pick<Rig, 'call'>, query: string): Promise<Page> =>
  (await call('GET', `/v1/drex/transfers?${query}`)).json as Page

const isOver = async (rig: Rig): Promise<boolean> => {
  const pages = await Promise.all(
    openStatuses.map((status) => listed(rig, `status=${status}&limit=1`)),
  )
  return pages.every(({ transfers }) => transfers.length === 0)
}

/** @throws Error if the gateway does not list each of them as confirmed */
export const requireConfirmed = async (
  rig: Pick<Rig, 'call'>,
  ids: readonly string[],
): Promise<void> => {
  const missing = new Set(ids)
  let cursor = ''
  do {
    const page = await listed(rig, `status=confirmed&limit=200${cursor}`)
    for (const { transfer_id: id } of page.transfers) missing.delete(id)
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
  } while (cursor !== '' && missing.size > 0)
  if (missing.size > 0)
    throw new Error(`${missing.size} of ${ids.length} transfers are not confirmed`)
}

/** Each request comes at its time, whether the last one has an answer or not. */
const latency = async (rig: Rig, wallets: readonly string[], seconds: number): Promise<Figure> => {
  const times: number[] = []
  const running: Promise<void>[] = []
  const start = performance.now()
  for (let i = 0; i < seconds * requestsPerSecond; i++) {
    const dueMs = start + (i * 1000) / requestsPerSecond
    await Bun.sleep(Math.max(0, dueMs - performance.now()))
    const send = async () => {
      const sentMs = performance.now()
      await rig.call('POST', '/v1/drex/transfers', transfer(wallets, i))
      times.push(performance.now() - sentMs)
    }
    running.push(send())
  }
  await Promise.all(running)
  return {
    name: `POST /v1/drex/transfers at ${requestsPerSecond}/s, p99`,
    value: percentile(times, 0.99),
    unit: 'ms',
    atMost: p99MsMax,
  }
}

export const drexSuite: Suite = { name: 'drex', groups, figures }
