import type { z } from 'zod'
import {
  pageOf,
  type RequestContext,
  type Route,
  readParams,
  readQuery,
} from '#src/platform/http/index.ts'
import { cursorAt, placeIn } from '../pages.ts'
import { type disputeMembers, disputeParams, disputesQuery } from './documents.ts'
import { type Dispute, type DisputeFilter, needsPerson, type Wanted } from './domain.ts'
import type { Advanced } from './service.ts'

const bodyBytesMax = 16_384
/** What all routes that ask the directory for something have alike. */
export const writing: Pick<Route, 'method' | 'scope' | 'accepts' | 'bodyBytesMax'> = {
  ...{ method: 'POST', scope: 'dict:write', accepts: ['application/json'], bodyBytesMax },
}

export const idOf = (c: RequestContext): string => readParams(c, disputeParams).id

/** A page of a list, newest first. */
export const pageOfDisputes = async <D extends Dispute>(
  c: RequestContext,
  list: (filter: DisputeFilter) => Promise<readonly D[]>,
): Promise<{ readonly items: readonly D[]; readonly next: string | null }> => {
  const { needs_attention: needs, limit, cursor, ...filter } = readQuery(c, disputesQuery)
  const { role, status, transaction_id: transactionId } = filter
  const found = await list({
    ...{ role, status, transactionId, limit: limit + 1, after: placeIn(cursor) },
    needsPerson: needs === 'true',
  })
  return pageOf(found, limit, cursorAt)
}

type Shared = z.output<z.ZodObject<Omit<typeof disputeMembers, 'details' | 'result' | 'analysis'>>>

export const sharedView = (one: Dispute<unknown, Wanted>): Shared => ({
  ...{ id: one.id, directory_id: one.directoryId, role: one.role, status: one.status },
  ...{ transaction_id: one.transactionId, reason: one.reason, other_ispb: one.other },
  ...{ pending: one.status === 'requested' ? 'create' : (one.wanted?.act ?? null) },
  ...{ needs_attention: needsPerson(one), refusal: one.refusal },
  created_at: one.createdAt.toISOString(),
  modified_at: one.modifiedAt?.toISOString() ?? null,
})

/** 202: the directory has not answered yet. */
export const advanced = <C, W extends Wanted>(
  { dispute, isDone }: Advanced<C, W>,
  status: 200 | 201,
  view: (dispute: Dispute<C, W>) => object,
): Response => Response.json(view(dispute), { status: isDone ? status : 202 })
