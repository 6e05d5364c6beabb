import { waiting } from './attention-section.tsx'
import { attentionWords as w } from './attention-words.ts'
import { certificateWords, Expiry, importAct } from './certificates.tsx'
import { dayOf } from './format.ts'
import { nameOfCertificate, type StoredCertificate, toBeReplaced } from './late.ts'
import { overviewWords } from './overview-words.ts'
import { Link } from './router.tsx'
import type { Column } from './table.tsx'
import { words } from './words.ts'

const columns: readonly Column<StoredCertificate>[] = [
  {
    head: certificateWords.certificate,
    cell: (one) => <Link to="/certificates">{nameOfCertificate(one)}</Link>,
    classes: ['wide'],
  },
  {
    head: words.status,
    cell: (one) => <Expiry one={one} />,
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
