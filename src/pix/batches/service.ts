import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Client, inSnapshot, type Transaction } from '#src/platform/database/index.ts'
import { ApiError } from '#src/platform/http/index.ts'
import type { Charge } from '../charges/domain.ts'
import type { ChargeService, Named } from '../charges/service.ts'
import { readDueRevision, readNewDueCharge } from '../due/body.ts'
import type { Calendar } from '../due/calendar.ts'
import { isOvertaken, pixErrors, problemOf, violates } from '../errors.ts'
import { type Asked, parametersOf } from '../pages.ts'
import { endShortWaits, underWay, withoutWaiting } from '../txids.ts'
import type { BatchItemRequest, BatchRequest, BatchRevision } from './body.ts'
import type { Batch, BatchName, ItemEnd } from './domain.ts'
import {
  addBatch,
  beginTurn,
  claimTxids,
  endItems,
  findBatch,
  listBatches,
  lockLocationsFor,
  lockTurn,
  txidsOf,
} from './store.ts'

export type BatchServiceDeps = {
  readonly sql: Client
  /** The service of charges with a due date. */
  readonly charges: Pick<ChargeService, 'putWithin' | 'reviseWithin'>
  readonly now: () => Date
  readonly calendar: Calendar
}

export type BatchService = ReturnType<typeof createBatchService>

/** How many charges of an existing batch we lock at a time, because their payments wait meanwhile. */
export const sliceMax = 25

/** Batches of charges with a due date. Once one is answered, every charge of it has its end. */
export const createBatchService = ({ sql, charges, now, calendar }: BatchServiceDeps) => ({
  /**
   * Makes the charges of the batch, or puts them anew if it is there. Each is made or denied by itself. A new batch is one
   * transaction: nobody is told of it before all its charges are made.
   */
  put: async (name: BatchName, { descricao, cobsv }: BatchRequest) => {
    const step: Step = (value) => {
      const charge = readNewDueCharge(value, calendar)
      return (inner, named) => charges.putWithin(inner, named, charge)
    }
    const txids = cobsv.map(({ txid }) => txid)
    const turn = turnOf(name, cobsv, step)
    const isNew = await withoutWaiting(sql, async (tx) => {
      if (await addBatch(tx, name, descricao, now())) {
        await claim(tx, name, txids)
        await workOff(tx, name.account, inOrder(cobsv), step)
        return true
      }
      await beginTurn(tx, name, turn.id, descricao)
      requireSame(await txidsOf(tx, name), txids)
      await turn.begin(tx)
      return false
    })
    if (!isNew) await turn.end(sql)
  },
  /** Revises some charges of the batch, each by itself. */
  revise: async (name: BatchName, { descricao, cobsv }: BatchRevision) => {
    const turn = turnOf(name, cobsv, (value) => {
      const revision = readDueRevision(value, calendar)
      return (inner, named) => charges.reviseWithin(inner, named, revision)
    })
    await withoutWaiting(sql, async (tx) => {
      if (!(await beginTurn(tx, name, turn.id, descricao))) throw noBatch()
      requireMembers(await txidsOf(tx, name), cobsv)
      await turn.begin(tx)
    })
    await turn.end(sql)
  },
  find: async (name: BatchName) => {
    const batch = await findBatch(sql, name)
    if (batch === undefined) throw noBatch()
    return batchView(batch)
  },
  list: async (account: string, request: Asked) => {
    const { items, total } = await inSnapshot(sql, (tx) => listBatches(tx, account, request))
    const parametros = parametersOf(request, total)
    return { parametros, lotes: items.map(batchView) }
  },
})

const noBatch = (): ApiError =>
  new ApiError(pixErrors.lote_cobv_nao_encontrado, 'Lote não encontrado para o id informado.')

const refuse = (razao: string, valor?: string): ApiError =>
  violates(pixErrors.lote_cobv_operacao_invalida, [{ razao, propriedade: 'loteCobV.cobsV', valor }])

const claim = async (tx: Transaction, name: BatchName, txids: readonly string[]): Promise<void> => {
  if (await claimTxids(tx, name, txids)) return
  throw refuse('Pelo menos uma das cobranças já encontra-se criada, ou pertence a outro lote.')
}

const requireSame = (known: readonly string[], given: readonly string[]): void => {
  const wanted = new Set(given)
  if (known.length === given.length && known.every((txid) => wanted.has(txid))) return
  throw refuse(
    'O array não referencia exatamente as mesmas cobranças da requisição que criou o lote.',
  )
}

const requireMembers = (known: readonly string[], items: readonly BatchItemRequest[]): void => {
  const members = new Set(known)
  const stranger = items.find(({ txid }) => !members.has(txid))
  if (stranger === undefined) return
  const razao = 'O array contém uma cobrança não existente na requisição que criou o lote.'
  throw refuse(razao, stranger.txid)
}

/** Reads what is asked of one charge, and gives what does it. Both may throw an ApiError. */
type Step = (value: unknown) => (tx: Transaction, named: Named) => Promise<Charge>

const locationOf = z.object({ loc: z.object({ id: z.int() }) })

/** The location that an item names, which has not been judged yet. */
const locationIdIn = (value: unknown): readonly number[] => {
  const { data } = locationOf.safeParse(value)
  return data === undefined ? [] : [data.loc.id]
}

/** Every transaction that locks several charges takes them in this order. */
const inOrder = (items: readonly BatchItemRequest[]): readonly BatchItemRequest[] =>
  items.toSorted((a, b) => (a.txid < b.txid ? -1 : 1))

/**
 * A change of a batch that is there. Each slice is a transaction: others come between two. Who begins to change the same
 * batch then ends this turn, since what it wrote afterwards would be older than what is there.
 */
const turnOf = (name: BatchName, items: readonly BatchItemRequest[], step: Step) => {
  const id = randomUUID()
  const ordered = inOrder(items)
  const slice = (tx: Transaction, from: number) =>
    workOff(tx, name.account, ordered.slice(from, from + sliceMax), step)
  return {
    id,
    /** In the transaction that notes the turn: what is one slice is never overtaken. */
    begin: (tx: Transaction) => slice(tx, 0),
    /** @throws ApiError 503 if another has begun */
    end: async (sql: Client): Promise<void> => {
      for (let from = sliceMax; from < ordered.length; from += sliceMax) {
        await withoutWaiting(sql, async (tx) => {
          if (!(await lockTurn(tx, name, id))) throw underWay()
          await slice(tx, from)
        })
      }
    },
  }
}

/** @param items in the order of their txids */
const workOff = async (
  tx: Transaction,
  account: string,
  items: readonly BatchItemRequest[],
  step: Step,
): Promise<void> => {
  const ended: ItemEnd[] = []
  const locationIds = items.flatMap(({ value }) => locationIdIn(value))
  if (locationIds.length > 0) {
    const txids = items.map(({ txid }) => txid)
    await lockLocationsFor(tx, account, txids, locationIds)
  }
  // Another batch may have what was locked so far for seconds; what follows takes as long itself.
  await endShortWaits(tx)
  for (const { txid, value } of items) {
    const end = await tried(tx, { account, txid }, () => step(value))
    ended.push({ txid, ...end })
  }
  await endItems(tx, account, ended)
}

/** Within a savepoint: what is denied leaves nothing, and lets the others be. */
const tried = async (
  tx: Transaction,
  named: Named,
  prepare: () => ReturnType<Step>,
): Promise<Omit<ItemEnd, 'txid'>> => {
  try {
    const work = prepare()
    const { createdAt } = await tx.savepoint((inner) => work(inner, named))
    return { status: 'CRIADA', problem: null, createdAt }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const status = isOvertaken(error) ? null : 'NEGADA'
    return { status, problem: JSON.stringify(problemOf(error)), createdAt: null }
  }
}

const batchView = ({ id, description, createdAt, items }: Batch) => ({
  id,
  descricao: description,
  criacao: createdAt.toISOString(),
  cobsv: items.map((item) => ({
    txid: item.txid,
    status: item.status,
    ...(item.problem === null ? {} : { problema: JSON.parse(item.problem) as object }),
    ...(item.createdAt === null ? {} : { criacao: item.createdAt.toISOString() }),
  })),
})
