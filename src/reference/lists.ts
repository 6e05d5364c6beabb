import type { Client, Queryable } from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import { createHolidayBook, type Holiday, lawfulSource } from './holidays/domain.ts'
import { knownParticipants, knownSource, type Participant } from './participants/domain.ts'

export const listNames = ['holidays', 'participants'] as const
export type ListName = (typeof listNames)[number]

/** Where a list was read, and the day that it is of. */
export type Provenance = { readonly source: string; readonly asOf: string }

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

type StoredList = Provenance & { readonly items: string; readonly storedAt: Date }

const putList = async (
  tx: Queryable,
  name: ListName,
  { source, asOf, items, storedAt }: StoredList,
): Promise<void> => {
  await tx`
    insert into reference_lists (name, source, as_of, items, stored_at)
    values (${name}, ${source}, ${asOf}, ${items}, ${storedAt})
    on conflict (name) do update set source = excluded.source, as_of = excluded.as_of,
      items = excluded.items, stored_at = excluded.stored_at`
}

/** @returns when each list was stored, in milliseconds since 1970 */
const listVersions = async (sql: Client): Promise<ReadonlyMap<ListName, number>> => {
  const rows = await sql<{ name: ListName; storedAt: Date }[]>`
    select name, stored_at as "storedAt" from reference_lists`
  return new Map(rows.map(({ name, storedAt }) => [name, storedAt.getTime()]))
}

const findList = async (sql: Client, name: ListName): Promise<StoredList | undefined> => {
  const [found] = await sql<StoredList[]>`
    select source, as_of::text as "asOf", items, stored_at as "storedAt"
    from reference_lists where name = ${name}`
  return found
}
