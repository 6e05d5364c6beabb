import { dayOf, timeOf } from './format.ts'
import type { Row } from './rails.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { words } from './words.ts'

/** The cell of a moment: day and time, with the instant for machines. */
export const MomentCell = ({ at }: { readonly at: string }) => (
  <td class="number quiet">
    <time dateTime={at}>
      {dayOf(at)} {timeOf(at)}
    </time>
  </td>
)

/** Payments, one a row; on a phone two lines each. */
export const PaymentTable = ({ rows }: { readonly rows: readonly Row[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{words.identifier}</th>
        <th scope="col">{words.kind}</th>
        <th scope="col">{words.party}</th>
        <th scope="col">{words.status}</th>
        <th scope="col" class="number">
          {words.amount}
        </th>
        <th scope="col" class="number">
          {words.time}
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={row.to}>
          <td class="wide">
            <Link to={row.to} class="mono">
              {row.id}
            </Link>
          </td>
          <td>{row.kind}</td>
          <td class="mono party">{row.party}</td>
          <td>
            <Badge status={row.status} />
          </td>
          <td class="number">{row.amount}</td>
          <MomentCell at={row.at} />
        </tr>
      ))}
    </tbody>
  </table>
)
