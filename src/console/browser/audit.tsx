import { getJson, useLoaded } from './api.ts'
import { Shown } from './parts.tsx'
import { Badge } from './state.tsx'
import { MomentCell } from './table.tsx'
import { words } from './words.ts'

type Entry = {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly outcome: string
}

const entriesMax = 100

/** Who did what, the latest first. */
export const Audit = () => {
  const loaded = useLoaded('audit', () =>
    getJson<{ entries: readonly Entry[] }>(`/v1/audit?limit=${entriesMax}`),
  )
  return (
    <>
      <header class="head">
        <h1>{words.audit}</h1>
      </header>
      <Shown loaded={loaded}>
        {({ entries }) => (
          <div class="card list">
            <table>
              <thead>
                <tr>
                  <th scope="col">{words.object}</th>
                  <th scope="col">{words.action}</th>
                  <th scope="col">{words.actor}</th>
                  <th scope="col">{words.outcome}</th>
                  <th scope="col" class="number">
                    {words.time}
                  </th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td class="mono wide">{entry.object}</td>
                    <td>{entry.action}</td>
                    <td class="mono party">{entry.actor}</td>
                    <td>
                      <Badge status={entry.outcome} />
                    </td>
                    <MomentCell at={entry.at} />
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
    </>
  )
}
