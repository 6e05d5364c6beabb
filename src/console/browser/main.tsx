import { type ComponentChildren, type FunctionComponent, render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { DeliveryOfBonds, LienPage } from './agreements.tsx'
import {
  currentSession,
  type Loaded,
  Refusal,
  refusalOf,
  retryMs,
  type ScreenProps,
  type Session,
  signIn,
  signOut,
  type ThingProps,
  useLoaded,
} from './api.ts'
import { Attention } from './attention.tsx'
import { attentionWords } from './attention-words.ts'
import { Audit } from './audit.tsx'
import { Movements } from './card-movements.tsx'
import { Cards } from './cards.tsx'
import { Certificates, certificateWords } from './certificates.tsx'
import { ChargePage } from './charge.tsx'
import { kinds, kindsOf } from './charge-kinds.ts'
import { chargeWords } from './charge-words.ts'
import { Charges } from './charges.tsx'
import { type Concern, concernsChanged, concernsOf, manyText } from './concerns.ts'
import { ContractPage } from './contract.tsx'
import { Currency } from './currency.tsx'
import { kinds as matters } from './directory-kinds.ts'
import { DirectoryPage } from './directory-one.tsx'
import { NotFound } from './heads.tsx'
import { keyWords } from './key-words.ts'
import { Keys } from './keys.tsx'
import { isThing, Make } from './make.tsx'
import { Overview } from './overview.tsx'
import { Unanswered } from './parts.tsx'
import { PaymentPage } from './payment.tsx'
import { Payments } from './payments.tsx'
import { pixKeyWords } from './pix-key-words.ts'
import { PixKeys } from './pix-keys.tsx'
import { railLists, rails } from './rails.ts'
import { go, Link, type Place, usePlace } from './router.tsx'
import { Tools } from './tools.tsx'
import { toolWords } from './tools-words.ts'
import { showTurningSigns } from './visible.ts'
import { WalletPage } from './wallet.tsx'
import { DeliveryPage, Webhook } from './webhook.tsx'
import { webhookWords } from './webhook-words.ts'
import { Webhooks } from './webhooks.tsx'
import { chooseLanguage, language, words } from './words.ts'

showTurningSigns()

const root = document.documentElement
root.lang = language === 'pt' ? 'pt-BR' : 'en'

type Theme = 'light' | 'dark'
const storedTheme = localStorage.getItem('trilho-theme')
if (storedTheme !== null) root.dataset['theme'] = storedTheme

const switchTheme = (): void => {
  const preferred: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const next: Theme = (root.dataset['theme'] ?? preferred) === 'dark' ? 'light' : 'dark'
  root.dataset['theme'] = next
  localStorage.setItem('trilho-theme', next)
}

const Brand = ({ environment }: { readonly environment?: Session['environment'] }) => (
  <div class="brand">
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d="M2 4.5h16M2 10h16M2 15.5h16M6 2.5v15" />
    </svg>
    <strong>Trilho</strong>
    {environment !== undefined && (
      <span class={`mark ${environment}`}>{environment.toUpperCase()}</span>
    )}
  </div>
)

const Choices = ({ children }: { readonly children?: ComponentChildren }) => (
  <div class="choices">
    <button type="button" onClick={switchTheme}>
      {words.theme}
    </button>
    <button
      type="button"
      lang={language === 'en' ? 'pt-BR' : 'en'}
      onClick={() => chooseLanguage(language === 'en' ? 'pt' : 'en')}
    >
      {words.language}
    </button>
    {children}
  </div>
)

const SignIn = ({
  isOver,
  onDone,
}: {
  readonly isOver: boolean
  readonly onDone: (session: Session) => void
}) => {
  const [problem, setProblem] = useState('')
  const submit = async (key: string) => {
    try {
      await signIn(key)
    } catch (error) {
      setProblem(refusalOf(error).message)
      return
    }
    await currentSession().then(onDone, (error) => {
      const refusal = refusalOf(error)
      setProblem(refusal.isSignedOut ? words.insecure : refusal.message)
    })
  }
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(String(new FormData(event.currentTarget).get('key') ?? '').trim())
        }}
      >
        <Brand />
        <h1>{words.signIn}</h1>
        {isOver && <p role="status">{words.over}</p>}
        <p class="quiet">{words.signInHint}</p>
        <label>
          {words.apiKey}
          <input
            name="key"
            type="password"
            required
            autocomplete="current-password"
            spellcheck={false}
          />
        </label>
        {problem !== '' && <p role="alert">{problem}</p>}
        <button class="primary" type="submit">
          {words.signIn}
        </button>
        <Choices />
      </form>
    </main>
  )
}

const railScopes = rails.map((rail) => railLists[rail].scope)

/** The props of every screen; each takes what it needs. */
type Known = ScreenProps & {
  readonly concerns: Loaded<readonly Concern[]>
  readonly given: string
}

type Page = {
  readonly to: string
  readonly label: string
  readonly scopes: readonly string[]
  readonly Screen: FunctionComponent<Known>
}

const chargeScopes = kinds.map((kind) => kindsOf[kind].scope)

/** A page is for sessions with any of its scopes; a page without scopes is for all. */
const pages: readonly Page[] = [
  { to: '/', label: words.overview, scopes: [], Screen: Overview },
  { to: '/payments', label: words.payments, scopes: railScopes, Screen: Payments },
  { to: '/charges', label: chargeWords.charges, scopes: chargeScopes, Screen: Charges },
  { to: '/cards', label: words.cards, scopes: ['cards:read'], Screen: Cards },
  { to: '/currency', label: words.drex, scopes: ['drex:read'], Screen: Currency },
  { to: '/pix-keys', label: pixKeyWords.title, scopes: ['dict:read'], Screen: PixKeys },
  { to: '/attention', label: attentionWords.attention, scopes: [], Screen: Attention },
  { to: '/webhooks', label: webhookWords.webhooks, scopes: ['webhooks:read'], Screen: Webhooks },
  { to: '/tools', label: toolWords.tools, scopes: [], Screen: Tools },
  {
    to: '/certificates',
    label: certificateWords.certificates,
    scopes: ['ops:admin'],
    Screen: Certificates,
  },
  { to: '/keys', label: keyWords.keys, scopes: ['keys:read'], Screen: Keys },
  { to: '/audit', label: words.audit, scopes: ['ops:admin'], Screen: Audit },
]

type ThingPage = FunctionComponent<ThingProps>

/** The pages of several kinds, by their paths. */
const pagesOf = <K extends string>(
  path: string,
  all: readonly K[],
  pageOf: (kind: K) => ThingPage,
): Readonly<Record<string, ThingPage>> =>
  Object.fromEntries(all.map((kind) => [`${path}/${kind}`, pageOf(kind)]))

/** The pages of one thing, by the path before its id. */
const thingPages: Readonly<Record<string, ThingPage>> = {
  ...pagesOf('/payments', rails, (rail) => (one) => <PaymentPage rail={rail} {...one} />),
  ...pagesOf('/charges', kinds, (kind) => (one) => <ChargePage kind={kind} {...one} />),
  ...pagesOf('/pix-keys', matters, (kind) => (one) => <DirectoryPage kind={kind} {...one} />),
  '/cards/days': Movements,
  '/currency/new': ({ id, ...one }) => (isThing(id) ? <Make name={id} {...one} /> : <NotFound />),
  '/currency/wallets': WalletPage,
  '/currency/deliveries': DeliveryOfBonds,
  '/currency/liens': LienPage,
  '/currency/contracts': ContractPage,
}

const concernsEveryMs = 30_000

const Shell = ({ session, onEnd }: { readonly session: Session; readonly onEnd: () => void }) => {
  const place = usePlace()
  const concerns = useLoaded(
    'concerns',
    (purpose) => concernsOf(session, purpose),
    concernsChanged(session, concernsEveryMs),
  )
  const [problem, setProblem] = useState('')
  const leave = () => signOut().then(onEnd, (error) => setProblem(refusalOf(error).message))
  const section = `/${place.path.split('/')[1] ?? ''}`
  const seen = pages.filter(
    ({ scopes }) => scopes.length === 0 || scopes.some((scope) => session.scopes.includes(scope)),
  )
  const label = pages.find(({ to }) => to === section)?.label ?? words.overview
  const content = useRef<HTMLElement>(null)
  const former = useRef(place.path)
  useEffect(() => {
    document.title = `${session.environment.toUpperCase()} · ${label} · Trilho`
    // On a phone the sections are one line, and the current one may be out of sight.
    document.querySelector('aside nav [aria-current]')?.scrollIntoView({ inline: 'center' })
    scrollTo(0, 0)
    // The link that led here may be gone, and with it the focus of a keyboard user.
    if (former.current !== place.path && document.activeElement === document.body) {
      content.current?.focus({ preventScroll: true })
    }
    former.current = place.path
  }, [label, place.path])
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <aside>
        <Brand environment={session.environment} />
        {session.scopes.includes('messages:read') && <Find />}
        <nav aria-label={words.navigation}>
          {seen.map((page) => (
            <Link key={page.to} to={page.to} current={page.to === section}>
              {page.label}
              {page.to === '/attention' && <Many concerns={concerns.value} />}
            </Link>
          ))}
        </nav>
        <p class="who">
          {session.name}
          <span>
            {session.account}
            {session.restrictions.includes('read_only') && ` · ${words.readOnly}`}
          </span>
        </p>
        <Choices>
          <button type="button" onClick={() => void leave()}>
            {words.signOut}
          </button>
          {problem !== '' && <p role="alert">{problem}</p>}
        </Choices>
      </aside>
      <main ref={content} id="content" tabIndex={-1} aria-label={label}>
        <Content {...{ place, session, concerns }} />
      </main>
    </div>
  )
}

/** Finds anything by its identifier, from any screen; Ctrl K leads here. */
const Find = () => {
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    const reach = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      input.current?.select()
    }
    addEventListener('keydown', reach)
    return () => removeEventListener('keydown', reach)
  }, [])
  return (
    <search>
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault()
          const text = input.current?.value.trim() ?? ''
          if (text !== '') go('/tools?tool=explain', text)
        }}
      >
        <input
          {...{ ref: input, type: 'search', spellcheck: false, autocomplete: 'off' }}
          aria-label={words.findHint}
          aria-keyshortcuts="Control+K"
          title={words.findHint}
          placeholder={words.find}
        />
        <kbd>Ctrl K</kbd>
      </form>
    </search>
  )
}

/** How many things wait for a person. */
const Many = ({ concerns = [] }: { readonly concerns: readonly Concern[] | undefined }) =>
  concerns.length > 0 && (
    <>
      {' '}
      <span class="many">{manyText(concerns)}</span>
    </>
  )

const Content = ({
  place,
  ...more
}: Omit<Known, 'query' | 'given'> & { readonly place: Place }) => {
  const { path, query, given } = place
  const shown = { ...more, query, given }
  const page = pages.find(({ to }) => to === path)
  if (page !== undefined) return <page.Screen {...shown} />
  const [, section, first = '', second] = path.split('/').map(decoded)
  const one = { query, session: more.session }
  const Thing = thingPages[`/${section}/${first}`]
  if (Thing !== undefined && second !== undefined) return <Thing key={path} id={second} {...one} />
  if (section === 'webhooks' && first !== '') {
    return second === undefined ? (
      <Webhook key={first} id={first} {...one} />
    ) : (
      <DeliveryPage key={second} id={second} {...one} />
    )
  }
  return <NotFound />
}

/** An address that a person typed may hold wrong escapes. */
const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

const App = () => {
  const [session, setSession] = useState<Session | 'none' | 'over' | 'asking' | Refusal>('asking')
  const ask = () =>
    void currentSession().then(setSession, (error) => {
      const refusal = refusalOf(error)
      setSession(refusal.isSignedOut ? 'none' : refusal)
    })
  useEffect(() => {
    const end = () => setSession('over')
    addEventListener('signed-out', end)
    ask()
    return () => removeEventListener('signed-out', end)
  }, [])
  // Ask again: we do not know yet whether there is a session.
  useEffect(() => {
    const timer = session instanceof Refusal ? setTimeout(ask, retryMs) : undefined
    return () => clearTimeout(timer)
  }, [session])
  if (session === 'asking') return null
  if (session instanceof Refusal) {
    return (
      <main class="sign-in">
        <Unanswered refusal={session} again={ask} />
      </main>
    )
  }
  return session === 'none' || session === 'over' ? (
    <SignIn isOver={session === 'over'} onDone={setSession} />
  ) : (
    <Shell session={session} onEnd={() => setSession('none')} />
  )
}

const place = document.getElementById('app')
if (place !== null) render(<App />, place)
