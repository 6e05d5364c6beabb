import type { ScreenProps } from './api.ts'
import { ScreenHead, Tabs } from './heads.tsx'
import { Explain } from './tools-explain.tsx'
import { MakeMessage } from './tools-message.tsx'
import { MakeCode } from './tools-qr.tsx'
import { Samples } from './tools-samples.tsx'
import { toolWords as w } from './tools-words.ts'
import { words } from './words.ts'

const tools = [
  { name: 'explain', label: w.explain, scope: 'messages:read' },
  { name: 'qr', label: w.qrCode, scope: 'qrcodes:use' },
  { name: 'message', label: w.message, scope: 'spi:send' },
  { name: 'samples', label: w.samples, scope: undefined },
] as const

/** Explains pasted text, makes codes and messages, shows sample requests. */
export const Tools = ({ query, session, given }: ScreenProps & { readonly given: string }) => {
  const mine = tools.filter(({ scope }) => scope === undefined || session.scopes.includes(scope))
  const current = mine.find(({ name }) => name === query.get('tool')) ?? mine[0]
  return (
    <>
      <ScreenHead title={w.tools} />
      <Tabs label={w.tools} tabs={mine} current={current?.name} at="/tools?tool=" />
      {current === undefined && <p class="empty">{words.lacking}</p>}
      {current?.name === 'explain' && (
        <Explain {...{ session, query }} given={given === '' ? (query.get('find') ?? '') : given} />
      )}
      {current?.name === 'qr' && <MakeCode />}
      {current?.name === 'message' && <MakeMessage session={session} />}
      {current?.name === 'samples' && <Samples />}
    </>
  )
}
