import { type Client, inSnapshot } from '#src/platform/database/index.ts'
import { type Answered, ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { type Addresses, locationView } from '../charges/view.ts'
import { pixErrors } from '../errors.ts'
import { type Asked, parametersOf } from '../pages.ts'
import type { LocationKind } from './domain.ts'
import {
  addLocation,
  findLocation,
  type LocationFilter,
  listLocations,
  unlinkLocation,
} from './store.ts'

type LocationView = ReturnType<typeof locationView>

export type LocationService = {
  readonly create: (kind: LocationKind, caller: Caller) => Promise<Answered>
  readonly list: (account: string, filter: Asked<LocationFilter>) => Promise<object>
  /** @throws ApiError `payload_location_nao_encontrado` */
  readonly find: (account: string, id: bigint) => Promise<LocationView>
  /** Makes it show nothing. @throws ApiError `payload_location_nao_encontrado` */
  readonly free: (account: string, id: bigint) => Promise<LocationView>
}

export type LocationServiceDeps = {
  readonly sql: Client
  readonly addresses: Addresses
  readonly now: () => Date
}

export const noLocation = (): ApiError =>
  new ApiError(pixErrors.payload_location_nao_encontrado, 'Location não encontrada para o id.')

/** Addresses of payloads. */
export const createLocationService = (deps: LocationServiceDeps): LocationService => {
  const { sql, addresses, now } = deps
  return {
    create: (kind, caller) =>
      runOnce(sql, caller.idempotencyKey, async (tx) => {
        const location = await addLocation(tx, { account: caller.owner, kind }, now())
        return { status: 201, body: JSON.stringify(locationView(location, addresses)) }
      }),
    list: async (account, filter) => {
      const { items, total } = await inSnapshot(sql, (tx) => listLocations(tx, account, filter))
      const parametros = parametersOf(filter, total)
      return { parametros, loc: items.map((one) => locationView(one, addresses)) }
    },
    find: async (account, id) => {
      const found = await findLocation(sql, account, id)
      if (found === undefined) throw noLocation()
      return locationView(found, addresses)
    },
    free: async (account, id) => {
      const found = await findLocation(sql, account, id)
      if (found === undefined) throw noLocation()
      const { chargeId } = found
      if (chargeId !== null) await sql.begin((tx) => unlinkLocation(tx, id, chargeId))
      return locationView({ ...found, txid: null }, addresses)
    },
  }
}
