import { askedMax, waiting } from './attention-section.tsx'
import { amountColumn, deadlineColumn, kindText, matterColumn } from './directory.tsx'
import { directoryActs } from './directory-acts.tsx'
import { type Kind, listOf, otherOf, rowsOf, type Told } from './directory-kinds.ts'
import { directoryWords as w } from './directory-words.ts'
import { overviewWords } from './overview-words.ts'
import { type Column, column, statusColumn } from './table.tsx'
import { words } from './words.ts'

const textsOf = {
  claims: {
    title: w.waitingClaims,
    note: w.waitingClaimsNote,
    concern: overviewWords.claims,
  },
  'infraction-reports': {
    title: w.waitingReports,
    note: w.waitingReportsNote,
    concern: overviewWords.reports,
  },
  refunds: {
    title: w.waitingRefunds,
    note: w.waitingRefundsNote,
    concern: overviewWords.refundRequests,
  },
} as const satisfies Readonly<Record<Kind, object>>

const columnsOf = (kind: Kind): readonly Column<Told>[] => [
  matterColumn(kind),
  column(words.kind, kindText),
  column(w.other, otherOf, 'mono extra'),
  statusColumn,
  kind === 'refunds' ? amountColumn : deadlineColumn,
]

/** Claims and disputes of the directory of Pix keys that wait for our answer. */
export const waitingInDirectory = (['claims', 'infraction-reports', 'refunds'] as const).map(
  (kind) =>
    waiting<Parameters<typeof rowsOf>[1], Told>({
      ...textsOf[kind],
      scope: 'dict:read',
      path: `${listOf(kind)}?needs_attention=true&limit=${askedMax}`,
      columns: columnsOf(kind),
      rowsOf: (answer) => rowsOf(kind, answer),
      keyOf: ({ id }) => id,
      actsOf: (told, session) => directoryActs(session, kind, told),
    }),
)
