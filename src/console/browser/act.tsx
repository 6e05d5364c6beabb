import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { holdSession, type Refusal, refusalOf, type Session } from './api.ts'
import { type Field, Fields } from './fields.tsx'
import { sendOnce } from './once.ts'
import { Refused } from './parts.tsx'
import { stay } from './router.tsx'
import { inWords } from './words.ts'

const w = inWords({
  cancel: ['Cancel', 'Cancelar'],
  working: ['Working…', 'Executando…'],
  done: ['Done.', 'Feito.'],
  replayed: [
    'It was done the first time, and nothing was done now. To have it done once more, ask again.',
    'Isto foi feito da primeira vez, e nada foi feito agora. Para fazê-lo mais uma vez, peça de novo.',
  ],
  unsure: [
    'It may have been done all the same. Try the same again here: it happens once.',
    'Isto pode ter sido feito mesmo assim. Tente o mesmo de novo aqui: acontece uma vez só.',
  ],
  second: [
    'It may have been done the first time: the page shows how it stands.',
    'Isto pode ter sido feito da primeira vez: a página mostra como está.',
  ],
  unsureAnew: [
    'It may have been done all the same. To try again does it once more.',
    'Isto pode ter sido feito mesmo assim. Tentar de novo faz mais uma vez.',
  ],
  close: ['Close', 'Fechar'],
})

/** An act that a person may have done. */
export type Act = {
  readonly title: string
  /** The consequence, with names and amounts; shown before the act is done. */
  readonly consequence: string
  /** The text on its button; absent: the title. */
  readonly verb?: string
  readonly fields?: readonly Field[]
  /** Stands below the fields of its form. */
  readonly beside?: ComponentChildren
  /** True: the API does it at each request, whatever the Idempotency-Key. */
  readonly isAnew?: boolean
  /**
   * @param send sends with the same Idempotency-Key at each try, so that a lost answer does nothing twice
   * @returns the result to show; undefined: "Done."
   */
  readonly run: (form: FormData, send: Send) => Promise<ComponentChildren>
}

type Send = <T>(method: Parameters<typeof sendOnce>[0], path: string, body?: unknown) => Promise<T>

/**
 * Sends the request of an act.
 *
 * @param path the path, or how the form makes it
 * @param bodyOf makes the body from the form; absent: no body
 * @param tell makes the result to show from the answer; absent: "Done."
 */
export const sending =
  <T,>(
    method: Parameters<Send>[0],
    path: string | ((form: FormData) => string),
    bodyOf?: (form: FormData) => unknown,
    tell?: (answer: T) => ComponentChildren,
  ): Act['run'] =>
  async (form, send) => {
    const to = typeof path === 'string' ? path : path(form)
    const answer = await send<T>(method, to, await bodyOf?.(form))
    return tell?.(answer)
  }

const parts = ['merchant_ids', 'wallets']

/** Restrictions that forbid the acts of a scope: a key gives nobody more than it has itself. */
const shutBy: Readonly<Record<string, readonly string[]>> = {
  'keys:manage': [...parts, 'own_webhooks', 'requests_per_second', 'addresses'],
  'webhooks:manage': parts,
}

/** Whether the session may do the acts of this scope. The API judges again. */
export const may = ({ scopes, restrictions }: Session, scope: string): boolean =>
  scopes.includes(scope) &&
  !['read_only', ...(shutBy[scope] ?? [])].some((name) => restrictions.includes(name))

/** A key restricted to some wallets may not make another. */
export const mayMakeWallet = (session: Session): boolean =>
  may(session, 'wallets:manage') && !session.restrictions.includes('wallets')

export type Ask = (act: Act) => void

export const ActButtons = ({ acts, ask }: { readonly acts: readonly Act[]; readonly ask: Ask }) => (
  <>
    {acts.map((act) => (
      <button key={act.title} type="button" onClick={() => ask(act)}>
        {act.title}
      </button>
    ))}
  </>
)

export type ScopedAct = { readonly scope: string; readonly act: Act }

export const allowed = (session: Session, acts: readonly ScopedAct[]): readonly Act[] =>
  acts.filter(({ scope }) => may(session, scope)).map(({ act }) => act)

/**
 * The acts of a screen: `ask` opens the question, `dialog` is its place in the page.
 *
 * @param onDone called after an act that was or may have been done, and after a conflict: the page is out of date
 */
export const useActs = (
  onDone: () => void,
): { readonly ask: Ask; readonly dialog: ComponentChildren } => {
  const [asked, setAsked] = useState<Act>()
  return {
    ask: setAsked,
    dialog: asked && <Question act={asked} onDone={onDone} onClose={() => setAsked(undefined)} />,
  }
}

/** The same for a list: another `turn` begins it anew. */
export const useListActs = () => {
  const [turn, setTurn] = useState(0)
  return { turn, ...useActs(() => setTurn((one) => one + 1)) }
}

type State =
  | { readonly kind: 'asking'; readonly refusal?: Refusal }
  | { readonly kind: 'working' }
  | { readonly kind: 'done'; readonly result: ComponentChildren; readonly isReplay: boolean }

const Question = ({
  act,
  onDone,
  onClose,
}: {
  readonly act: Act
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, setState] = useState<State>({ kind: 'asking' })
  useLayoutEffect(() => {
    dialog.current?.showModal()
  }, [])
  const run = async (form: FormData) => {
    setState({ kind: 'working' })
    let isReplay = false
    const send: Send = (method, path, body) =>
      sendOnce(method, path, body, () => {
        isReplay = true
      })
    try {
      const result = await act.run(form, send)
      setState({ kind: 'done', result, isReplay })
    } catch (error) {
      const refusal = refusalOf(error)
      setState({ kind: 'asking', refusal })
      // A conflict says that the page shows an older state.
      const isStale = refusal.status === 409
      if (!refusal.mayHaveActed && !isStale) return
    }
    onDone()
  }
  const isWorking = state.kind === 'working'
  const isAsking = state.kind === 'asking'
  // Keep the page until the result is seen: it may be a secret that is shown once.
  useLayoutEffect(() => (isWorking ? stay() : undefined), [isWorking])
  useLayoutEffect(() => (isAsking ? undefined : holdSession()), [isAsking])
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onCancel={(event) => isWorking && event.preventDefault()}
      // At a second Escape a browser closes the dialog, whatever the page says.
      onClose={() => (isWorking ? dialog.current?.showModal() : onClose())}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isAsking) void run(new FormData(event.currentTarget))
        }}
      >
        <h2 id="question">{act.title}</h2>
        {state.kind === 'done' ? (
          <Result {...state} onClose={() => dialog.current?.close()} />
        ) : (
          <>
            <p>{act.consequence}</p>
            {act.fields !== undefined && <Fields fields={act.fields} />}
            {act.beside}
            {state.kind === 'asking' && state.refusal && (
              <Refused refusal={state.refusal}>
                {state.refusal.isOpen && (
                  <span class="line">{act.isAnew ? w.unsureAnew : w.unsure}</span>
                )}
                {state.refusal.isSecond && <span class="line">{w.second}</span>}
              </Refused>
            )}
            <div class="actions end">
              <button
                type="button"
                autofocus={act.fields === undefined && act.beside === undefined}
                disabled={isWorking}
                onClick={() => dialog.current?.close()}
              >
                {w.cancel}
              </button>
              <button class="primary" type="submit" disabled={isWorking}>
                {isWorking ? w.working : (act.verb ?? act.title)}
              </button>
            </div>
          </>
        )}
      </form>
    </dialog>
  )
}

const Result = ({
  result,
  isReplay,
  onClose,
}: {
  readonly result: ComponentChildren
  readonly isReplay: boolean
  readonly onClose: () => void
}) => (
  <>
    <div role="status">
      {isReplay && <p>{w.replayed}</p>}
      {result ?? (isReplay ? undefined : w.done)}
    </div>
    <div class="actions end">
      <button class="primary" type="button" onClick={onClose}>
        {w.close}
      </button>
    </div>
  </>
)
