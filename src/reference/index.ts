import type { Client } from '#src/platform/database/index.ts'
import { createJob } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { createLists } from './lists.ts'
import { referenceRoutes } from './routes.ts'

export { differencesOf, readHolidays } from './holidays/read.ts'
export {
  createLists,
  type ListName,
  type Lists,
  listNames,
  type Provenance,
  storeList,
} from './lists.ts'
export { readParticipants } from './participants/read.ts'
export { participantUrls, readList } from './refresh.ts'

export type ReferenceFeature = Feature & {
  /** Whether a day is a holiday of the whole country, by the list that holds now. */
  readonly isHoliday: (day: string) => boolean
}

/** A list that a command has stored holds everywhere after this long. */
const renewEveryMs = 60_000

/** Lists that others publish: the country's holidays, and who takes part in Pix. */
export const createReference = (deps: {
  /** Undefined: what the program brings holds. */
  readonly sql: Client | undefined
  readonly logger: Logger
}): ReferenceFeature => {
  const { sql, logger } = deps
  const lists = createLists()
  const feature = {
    name: 'reference',
    routes: referenceRoutes(lists),
    isHoliday: lists.isHoliday,
  }
  if (sql === undefined) return feature
  const job = createJob({
    name: 'reference lists',
    everyMs: renewEveryMs,
    logger,
    isAwaited: true,
    run: async () => {
      if (await lists.renew(sql)) logger.info({}, 'lists of holidays and participants are new')
    },
  })
  return { ...feature, start: () => job.start(), drain: () => job.stop() }
}
