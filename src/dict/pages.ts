/** Lists in the order of age, newest first. */
import { pageQuery } from '#src/platform/http/index.ts'

export const limitMax = 500
export const limitDefault = 50

/** The query parameters of one. */
export const agePage = pageQuery(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-f-]{36}$/,
  limitMax,
  limitDefault,
)

/** The place behind which a page begins. */
export type Place = readonly [createdAt: string, id: string]

/** Before all that there is. */
export const newest: Place = ['9999-12-31T00:00:00Z', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

export const placeIn = (cursor: string | undefined): Place | undefined => {
  const [createdAt, id] = cursor?.split(' ') ?? []
  return createdAt === undefined || id === undefined ? undefined : [createdAt, id]
}

export const cursorAt = (one: { readonly createdAt: Date; readonly id: string }): string =>
  `${one.createdAt.toISOString()} ${one.id}`
