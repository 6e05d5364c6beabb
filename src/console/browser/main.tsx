import { type ComponentChildren, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { DeliveryOfBonds, LienPage } from './agreements.tsx'
import { currentSession, Refusal, type Session, signIn, signOut } from './api.ts'
import { Attention } from './attention.tsx'
import { attentionWords } from './attention-words.ts'
import { Audit } from './audit.tsx'
import { Movements } from './card-movements.tsx'
import { Cards } from './cards.tsx'
import { Certificates, certificateWords } from './certificates.tsx'
import { ContractPage } from './contract.tsx'
import { Currency } from './currency.tsx'
import { keyWords } from './key-words.ts'
import { Keys } from './keys.tsx'
import { Overview } from './overview.tsx'
import { PaymentPage } from './payment.tsx'
import { Payments } from './payments.tsx'
import { pixKeyWords } from './pix-key-words.ts'
import { PixKeys } from './pix-keys.tsx'
import { rails } from './rails.ts'
import { Link, type Place, usePlace } from './router.tsx'
import { Tools } from './tools.tsx'
import { toolWords } from './tools-words.ts'
import { WalletPage } from './wallet.tsx'
import { DeliveryPage, Webhook } from './webhook.tsx'
import { webhookWords } from './webhook-words.ts'
import { Webhooks } from './webhooks.tsx'
import { chooseLanguage, language, words } from './words.ts'

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

const SignIn = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  const [problem, setProblem] = useState('')
  const submit = async (key: string) => {
    try {
      await signIn(key)
    } catch (error) {
      setProblem(error instanceof Refusal ? error.message : String(error))
      return
    }
    await currentSession().then(onDone, () => setProblem(words.insecure))
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

const pages = [
  { to: '/', label: words.overview, scope: undefined },
  { to: '/payments', label: words.payments, scope: undefined },
  { to: '/cards', label: words.cards, scope: 'cards:read' },
  { to: '/currency', label: words.drex, scope: 'drex:read' },
  { to: '/pix-keys', label: pixKeyWords.title, scope: 'dict:read' },
  { to: '/attention', label: attentionWords.attention, scope: undefined },
  { to: '/webhooks', label: webhookWords.webhooks, scope: 'webhooks:read' },
  { to: '/tools', label: toolWords.tools, scope: undefined },
  { to: '/certificates', label: certificateWords.certificates, scope: 'ops:admin' },
  { to: '/keys', label: keyWords.keys, scope: 'keys:read' },
  { to: '/audit', label: words.audit, scope: 'ops:admin' },
]

const Shell = ({ session, onEnd }: { readonly session: Session; readonly onEnd: () => void }) => {
  const place = usePlace()
  const section = `/${place.path.split('/')[1] ?? ''}`
  const seen = pages.filter(({ scope }) => scope === undefined || session.scopes.includes(scope))
  const label = pages.find(({ to }) => to === section)?.label ?? words.overview
  useEffect(() => {
    document.title = `${session.environment.toUpperCase()} · ${label} · Trilho`
    // On a phone the sections are one line, which the current one may be out of sight in.
    document.querySelector('aside nav [aria-current]')?.scrollIntoView({ inline: 'center' })
    scrollTo(0, 0)
  }, [label, place.path])
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <aside>
        <Brand environment={session.environment} />
        <nav aria-label={words.navigation}>
          {seen.map((page) => (
            <Link key={page.to} to={page.to} current={page.to === section}>
              {page.label}
            </Link>
          ))}
        </nav>
        <p class="who">
          {session.name}
          <span>
            {session.account}
            {session.read_only && ` · ${words.readOnly}`}
          </span>
        </p>
        <Choices>
          <button type="button" onClick={() => void signOut().finally(onEnd)}>
            {words.signOut}
          </button>
        </Choices>
      </aside>
      <main id="content" tabIndex={-1}>
        <Content place={place} session={session} />
      </main>
    </div>
  )
}

const Content = ({ place, session }: { readonly place: Place; readonly session: Session }) => {
  const [, section, first, second] = place.path.split('/').map(decoded)
  if (place.path === '/') return <Overview session={session} query={place.query} />
  if (place.path === '/payments') return <Payments query={place.query} />
  if (place.path === '/keys') return <Keys session={session} />
  if (place.path === '/audit') return <Audit query={place.query} />
  if (place.path === '/attention') return <Attention session={session} />
  if (place.path === '/tools') return <Tools query={place.query} session={session} />
  if (place.path === '/cards') return <Cards session={session} />
  if (place.path === '/currency') return <Currency query={place.query} session={session} />
  if (place.path === '/pix-keys') return <PixKeys query={place.query} session={session} />
  if (place.path === '/certificates') return <Certificates session={session} />
  if (place.path === '/webhooks') return <Webhooks session={session} />
  const known = rails.find((one) => one === first)
  if (section === 'payments' && known !== undefined && second !== undefined) {
    return <PaymentPage key={place.path} rail={known} id={second} session={session} />
  }
  if (section === 'cards' && first === 'days' && second !== undefined) {
    return <Movements key={second} id={second} query={place.query} />
  }
  if (section === 'currency' && first === 'wallets' && second !== undefined) {
    return <WalletPage key={second} id={second} session={session} />
  }
  if (section === 'currency' && first === 'deliveries' && second !== undefined) {
    return <DeliveryOfBonds key={second} id={second} session={session} />
  }
  if (section === 'currency' && first === 'liens' && second !== undefined) {
    return <LienPage key={second} id={second} session={session} />
  }
  if (section === 'currency' && first === 'contracts' && second !== undefined) {
    const network = place.query.get('network')
    return <ContractPage key={place.path} address={second} network={network} session={session} />
  }
  if (section === 'webhooks' && first !== undefined) {
    return second === undefined ? (
      <Webhook key={first} id={first} query={place.query} session={session} />
    ) : (
      <DeliveryPage key={second} id={second} session={session} />
    )
  }
  return (
    <>
      <h1>{words.notFound}</h1>
      <Link to="/">{words.overview}</Link>
    </>
  )
}

/** A step of a path that somebody wrote by hand may be no escaped text. */
const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

const App = () => {
  const [session, setSession] = useState<Session | undefined | 'asking'>('asking')
  useEffect(() => {
    const end = () => setSession(undefined)
    addEventListener('signed-out', end)
    currentSession().then(setSession, end)
    return () => removeEventListener('signed-out', end)
  }, [])
  if (session === 'asking') return null
  return session === undefined ? (
    <SignIn onDone={setSession} />
  ) : (
    <Shell session={session} onEnd={() => setSession(undefined)} />
  )
}

const place = document.getElementById('app')
if (place !== null) render(<App />, place)
