import { waiting } from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { certificateWords, importAct } from './certificates.tsx'
import { count, dayOf } from './format.ts'
import { nameOfCertificate, type StoredCertificate, toBeReplaced } from './late.ts'
import { overviewWords } from './overview-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import type { Column } from './table.tsx'
import { fill, words } from './words.ts'

const columns: readonly Column<StoredCertificate>[] = [
  {
    head: certificateWords.certificate,
    cell: (one) => <Link to="/certificates">{nameOfCertificate(one)}</Link>,
    classes: ['wide'],
  },
  {
    head: words.status,
    cell: ({ days_until_expiry: days }) =>
      days <= 0 ? (
        <Badge status="failed" label={certificateWords.expired} />
      ) : (
        <Badge status="queued" label={fill(certificateWords.days, { count: count(days) })} />
      ),
  },
  {
    head: certificateWords.expires,
    cell: ({ not_after: at }) => dayOf(at, true),
    classes: ['number'],
  },
]

/** Those that end soon: a new one is imported beside them. */
export const waitingCertificates = waiting<
  { certificates: readonly StoredCertificate[] },
  StoredCertificate
>({
  title: w.certificates,
  note: w.certificatesNote,
  concern: overviewWords.expiring,
  scope: 'ops:admin',
  path: '/v1/certificates',
  columns,
  keyOf: nameOfCertificate,
  rowsOf: ({ certificates }) => toBeReplaced(certificates),
  actScope: 'ops:admin',
  actsOf: (one) => [importAct(one)],
})
