import { type Client, inSnapshot, type Queryable } from '#src/platform/database/index.ts'
import { ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { type Addresses, locationView } from '../charges/view.ts'
import { pixErrors } from '../errors.ts'
import { type Asked, type Listed, type ListRequest, parametersOf } from '../pages.ts'
import { withoutWaiting } from '../txids.ts'
import type { Location, LocationKind } from './domain.ts'
import {
  addLocation,
  findLocation,
  type LocationFilter,
  listLocations,
  unlinkLocation,
} from './store.ts'

/** How addresses are stored: those of charges, or those of recurrences. */
export type LocationKeeping<Location, Wanted, Filter> = {
  readonly add: (tx: Queryable, account: string, wanted: Wanted, at: Date) => Promise<Location>
  readonly find: (sql: Queryable, account: string, id: bigint) => Promise<Location | undefined>
  readonly list: (sql: Queryable, account: string, filter: Filter) => Promise<Listed<Location>>
  /** Makes it show nothing. @returns it as it is then */
  readonly free: (sql: Client, location: Location) => Promise<Location>
  readonly view: (location: Location) => object
  readonly missing: () => ApiError
}

/** Addresses of payloads. */
export const createLocationService = <Location, Wanted, Filter extends ListRequest>(
  sql: Client,
  now: () => Date,
  { add, find, list, free, view, missing }: LocationKeeping<Location, Wanted, Filter>,
) => {
  const found = async (account: string, id: string): Promise<Location> => {
    // A text that is no id names nothing.
    const one = /^\d{1,18}$/.test(id) ? await find(sql, account, BigInt(id)) : undefined
    if (one === undefined) throw missing()
    return one
  }
  return {
    create: (wanted: Wanted, caller: Caller) =>
      runOnce(sql, caller.idempotencyKey, async (tx) => {
        const made = await add(tx, caller.owner, wanted, now())
        return { status: 201, body: JSON.stringify(view(made)) }
      }),
    list: async (account: string, filter: Asked<Filter>) => {
      const { items, total } = await inSnapshot(sql, (tx) => list(tx, account, filter))
      return { parametros: parametersOf(filter, total), loc: items.map(view) }
    },
    /** @throws ApiError if the account has none of the id */
    find: async (account: string, id: string) => view(await found(account, id)),
    /** Makes it show nothing. @throws ApiError as `find` */
    free: async (account: string, id: string) => view(await free(sql, await found(account, id))),
  }
}

export type LocationService<Wanted, Filter extends ListRequest> = ReturnType<
  typeof createLocationService<unknown, Wanted, Filter>
>

export type ChargeLocationService = LocationService<LocationKind, LocationFilter>

export const chargeLocations = (
  addresses: Addresses,
): LocationKeeping<Location, LocationKind, LocationFilter> => ({
  add: (tx, account, kind, at) => addLocation(tx, { account, kind }, at),
  find: findLocation,
  list: listLocations,
  free: async (sql, location) => {
    const { id, chargeId } = location
    if (chargeId !== null) await withoutWaiting(sql, (tx) => unlinkLocation(tx, id, chargeId))
    return { ...location, txid: null }
  },
  view: (one) => locationView(one, addresses),
  missing: () =>
    new ApiError(pixErrors.payload_location_nao_encontrado, 'Location não encontrada para o id.'),
})
