import type { Client } from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import type { ListName, Provenance } from './domain.ts'
import { createHolidayBook, type Holiday, lawfulSource } from './holidays/domain.ts'
import { knownParticipants, knownSource, type Participant } from './participants/domain.ts'
import { findList, listVersions, putList } from './store.ts'

/** What the process knows at the moment: never absent, since the program brings a list of each. */
export type Lists = {
  readonly isHoliday: (day: string) => boolean
  /** In their order, and where this year's are from. */
  readonly holidaysOf: (year: number) => {
    readonly provenance: Provenance
    readonly holidays: readonly Holiday[]
  }
  readonly participants: () => {
    readonly provenance: Provenance
    /** By ISPB, in its order. */
    readonly all: ReadonlyMap<string, Participant>
  }
  /** Reads what was stored since the last time. @returns whether anything was */
  readonly renew: (sql: Client) => Promise<boolean>
}

const byIspb = (all: readonly Participant[]): ReadonlyMap<string, Participant> =>
  new Map(all.toSorted((a, b) => (a.ispb < b.ispb ? -1 : 1)).map((one) => [one.ispb, one]))

export const createLists = (): Lists => {
  let book = createHolidayBook([])
  let listed: Provenance = lawfulSource
  let participants = {
    all: byIspb(knownParticipants),
    provenance: knownSource as Provenance,
  }
  const versions = new Map<ListName, number>()
  const take: Readonly<Record<ListName, (items: unknown, provenance: Provenance) => void>> = {
    holidays: (items, provenance) => {
      book = createHolidayBook(items as readonly Holiday[])
      listed = provenance
    },
    participants: (items, provenance) => {
      participants = { all: byIspb(items as readonly Participant[]), provenance }
    },
  }
  return {
    isHoliday: (day) => book.isHoliday(day),
    holidaysOf: (year) => {
      const { isListed, holidays } = book.ofYear(year)
      return { holidays, provenance: isListed ? listed : lawfulSource }
    },
    participants: () => participants,
    renew: async (sql) => {
      let isNew = false
      for (const [name, version] of await listVersions(sql)) {
        if (versions.get(name) === version) continue
        const found = await findList(sql, name)
        if (found === undefined) continue
        const { source, asOf } = found
        take[name](JSON.parse(found.items), { source, asOf })
        versions.set(name, found.storedAt.getTime())
        isNew = true
      }
      return isNew
    },
  }
}

/** Puts a list in the place of the one before, for all processes, and records who did. */
export const storeList = (
  sql: Client,
  name: ListName,
  list: Provenance & { readonly items: readonly unknown[] },
  actor: Actor,
): Promise<void> =>
  sql.begin(async (tx) => {
    const { source, asOf, items } = list
    await putList(tx, name, { source, asOf, items: JSON.stringify(items), storedAt: new Date() })
    await writeAudit(tx, { actor, action: 'lists.refresh', object: name, outcome: 'stored' })
  })
