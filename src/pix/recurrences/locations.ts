import { ApiError } from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import type { LocationKeeping, LocationService } from '../locations/service.ts'
import type { RecurrenceLocation } from './domain.ts'
import {
  addRecurrenceLocation,
  findRecurrenceLocation,
  listRecurrenceLocations,
  type RecurrenceLocationFilter,
  unlinkRecurrence,
} from './store.ts'
import { type RecurrenceAddress, recurrenceLocationView } from './view.ts'

export type RecurrenceLocationService = LocationService<undefined, RecurrenceLocationFilter>

/** Addresses of the payloads of recurrences. */
export const recurrenceLocations = (
  addressOf: RecurrenceAddress,
): LocationKeeping<RecurrenceLocation, undefined, RecurrenceLocationFilter> => ({
  add: (tx, account, _, at) => addRecurrenceLocation(tx, account, at),
  find: findRecurrenceLocation,
  list: listRecurrenceLocations,
  free: async (sql, location) => {
    // The location is not locked: a revision locks its recurrence first, and would wait for this one as this for it.
    await unlinkRecurrence(sql, location.id)
    return { ...location, recurrenceId: null }
  },
  view: (one) => recurrenceLocationView(one, addressOf),
  missing: () =>
    new ApiError(
      pixErrors.payload_location_rec_nao_encontrado,
      'Location não encontrada para o id informado.',
    ),
})
