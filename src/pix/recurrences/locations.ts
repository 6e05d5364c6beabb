import { type Client, inSnapshot } from '#src/platform/database/index.ts'
import { type Answered, ApiError, type Caller, runOnce } from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import { type Asked, parametersOf } from '../pages.ts'
import {
  addRecurrenceLocation,
  findRecurrenceLocation,
  listRecurrenceLocations,
  type RecurrenceLocationFilter,
  unlinkRecurrence,
} from './store.ts'
import { type RecurrenceAddress, recurrenceLocationView } from './view.ts'

type LocationView = ReturnType<typeof recurrenceLocationView>

export type RecurrenceLocationService = {
  readonly create: (caller: Caller) => Promise<Answered>
  readonly list: (account: string, filter: Asked<RecurrenceLocationFilter>) => Promise<object>
  /** @throws ApiError `payload_location_rec_nao_encontrado` */
  readonly find: (account: string, id: bigint) => Promise<LocationView>
  /** Makes it show nothing. @throws ApiError `payload_location_rec_nao_encontrado` */
  readonly free: (account: string, id: bigint) => Promise<LocationView>
}

export type RecurrenceLocationDeps = {
  readonly sql: Client
  readonly addressOf: RecurrenceAddress
  readonly now: () => Date
}

export const noRecurrenceLocation = (): ApiError =>
  new ApiError(
    pixErrors.payload_location_rec_nao_encontrado,
    'Location não encontrada para o id informado.',
  )

/** Addresses of the payloads of recurrences. */
export const createRecurrenceLocationService = ({
  sql,
  addressOf,
  now,
}: RecurrenceLocationDeps): RecurrenceLocationService => ({
  create: (caller) =>
    runOnce(sql, caller.idempotencyKey, async (tx) => {
      const location = await addRecurrenceLocation(tx, caller.owner, now())
      return { status: 201, body: JSON.stringify(recurrenceLocationView(location, addressOf)) }
    }),
  list: async (account, filter) => {
    const { items, total } = await inSnapshot(sql, (tx) =>
      listRecurrenceLocations(tx, account, filter),
    )
    const parametros = parametersOf(filter, total)
    return { parametros, loc: items.map((one) => recurrenceLocationView(one, addressOf)) }
  },
  find: async (account, id) => {
    const found = await findRecurrenceLocation(sql, account, id)
    if (found === undefined) throw noRecurrenceLocation()
    return recurrenceLocationView(found, addressOf)
  },
  free: async (account, id) => {
    // The location is not locked: a revision locks its recurrence first, and would wait for this one as this for it.
    const found = await findRecurrenceLocation(sql, account, id)
    if (found === undefined) throw noRecurrenceLocation()
    await unlinkRecurrence(sql, id)
    return recurrenceLocationView({ ...found, recurrenceId: null }, addressOf)
  },
})
