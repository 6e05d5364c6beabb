import { type Act, may, sending, useActs } from './act.tsx'
import { type Session, useAnswer } from './api.ts'
import { actsColumn } from './attention-section.tsx'
import { asTheyAre, given, textsIn } from './fields.tsx'
import { count, dayOf, daysText, monthOf } from './format.ts'
import { expiresSoon, expiries, type StoredCertificate } from './late.ts'
import { Card, orNone, Shown } from './parts.tsx'
import { Badge } from './state.tsx'
import { type Column, column, ListTable } from './table.tsx'
import { fill, inWords } from './words.ts'

export const certificateWords = inWords({
  certificates: ['Certificates', 'Certificados'],
  import: ['Import', 'Importar'],
  importConsequence: [
    'The certificate and its key are stored, the key sealed. Where it is the newest of its institution and type, the gateway signs or connects with it from then on.',
    'O certificado e sua chave são guardados, a chave selada. Se for o mais novo de sua instituição e tipo, o gateway passa a assinar ou conectar com ele.',
  ],
  imported: ['Version {version}, until {day}.', 'Versão {version}, até {day}.'],
  ispb: ['ISPB', 'ISPB'],
  type: ['Type', 'Tipo'],
  file: ['PKCS#12 or PEM file', 'Arquivo PKCS#12 ou PEM'],
  password: ['Password of the file', 'Senha do arquivo'],
  passwordHint: ['Empty where there is none.', 'Em branco se não houver.'],
  subject: ['Subject', 'Titular'],
  key: ['Key', 'Chave'],
  withKey: ['with key', 'com chave'],
  expires: ['Expires', 'Vence'],
  certificate: ['Certificate', 'Certificado'],
  until: ['Until', 'Até'],
  lastDay: ['in less than a day', 'em menos de um dia'],
  expired: ['expired', 'vencido'],
  remove: ['Remove', 'Remover'],
  removeConsequence: [
    'Version {version} of {type} of {ispb} and its key are deleted for good. What signs or connects with it takes the next one, or none.',
    'A versão {version} de {type} de {ispb} e sua chave são excluídas de vez. O que assina ou conecta com ela passa à seguinte, ou a nenhuma.',
  ],
  calendar: ['Expiry over the next twelve months', 'Vencimentos nos próximos doze meses'],
  none: ['No certificates yet.', 'Ainda não há certificados.'],
})
const w = certificateWords

const types = ['SPB', 'PIA', 'PIC', 'MES', 'QRC']

type Certificate = StoredCertificate & { readonly subject: string }

const pathOf = ({ ispb, type, version }: Certificate): string =>
  `/v1/certificates/${encodeURIComponent(ispb)}/${encodeURIComponent(type)}/${version}`

const isFile = (value: unknown): value is File => value instanceof File

/** PEM is text; we take any other file for PKCS#12. */
const contentOf = async (file: File): Promise<{ format: string; content: string }> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = new TextDecoder().decode(bytes)
  if (text.includes('-----BEGIN')) return { format: 'pem', content: text }
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return { format: 'pkcs12', content: btoa(binary) }
}

const bodyOf = async (form: FormData) => {
  const file = form.get('file')
  return {
    ...textsIn(form, 'ispb', 'type'),
    ...(isFile(file) ? await contentOf(file) : {}),
    ...given('password', String(form.get('password') ?? '')),
  }
}

/** @param first the first values of the form */
export const importAct = (first?: Pick<Certificate, 'ispb' | 'type'>): Act => ({
  title: w.import,
  consequence: w.importConsequence,
  fields: [
    { name: 'ispb', label: w.ispb, first: first?.ispb ?? '', more: { pattern: '[0-9A-Z]{8}' } },
    { name: 'type', label: w.type, first: first?.type ?? '', choices: asTheyAre(types) },
    { name: 'file', label: w.file, type: 'file' },
    {
      name: 'password',
      label: w.password,
      type: 'password',
      isFree: true,
      hint: w.passwordHint,
    },
  ],
  run: sending('POST', '/v1/certificates', bodyOf, (made: Certificate) =>
    fill(w.imported, { version: String(made.version), day: dayOf(made.not_after) }),
  ),
})

const removeAct = (one: Certificate): Act => ({
  title: w.remove,
  consequence: fill(w.removeConsequence, {
    version: String(one.version),
    type: one.type,
    ispb: one.ispb,
  }),
  run: sending('DELETE', pathOf(one)),
})

/** A certificate is used until its last moment, so zero days left is not yet expired. */
export const expiryText = ({ status, days_until_expiry: days }: StoredCertificate): string => {
  if (status === 'expired') return w.expired
  return days <= 0 ? w.lastDay : daysText(days)
}

const expiryStatus = (one: StoredCertificate): string => {
  if (one.status === 'expired') return 'failed'
  return expiresSoon(one) ? 'queued' : 'ok'
}

export const Expiry = ({ one }: { readonly one: StoredCertificate }) => (
  <Badge status={expiryStatus(one)} label={expiryText(one)} />
)

const columns: readonly Column<Certificate>[] = [
  column(w.subject, ({ subject }) => subject, 'wide'),
  column(w.ispb, ({ ispb }) => ispb, 'mono'),
  column(w.type, ({ type, version }) => `${type} ${version}`),
  column(w.key, ({ has_private_key: hasKey }) => (hasKey ? w.withKey : '–'), 'extra'),
  column(w.expires, (one) => <Expiry one={one} />),
  column(
    w.until,
    ({ not_after: at }) => <time dateTime={at}>{dayOf(at, true)}</time>,
    'number quiet',
  ),
]

/** Every certificate of the store, the next to expire first. */
export const Certificates = ({ session }: { readonly session: Session }) => {
  const loaded = useAnswer<{ certificates: readonly Certificate[] }>('/v1/certificates')
  const { ask, dialog } = useActs(loaded.again)
  const mayAct = may(session, 'ops:admin')
  const acts = actsColumn<Certificate>(mayAct, ask, (one) => [removeAct(one)])
  return (
    <>
      <header class="head">
        <h1>{w.certificates}</h1>
        {mayAct && (
          <button class="primary" type="button" onClick={() => ask(importAct())}>
            {w.import}
          </button>
        )}
      </header>
      <Shown loaded={loaded}>
        {({ certificates }) =>
          orNone(
            certificates,
            w.none,
            <>
              <Calendar certificates={certificates} />
              <ListTable
                isCard
                columns={[...columns, ...acts]}
                rows={certificates.toSorted((a, b) => (a.not_after < b.not_after ? -1 : 1))}
                keyOf={pathOf}
              />
            </>,
          )
        }
      </Shown>
      {dialog}
    </>
  )
}

const Calendar = ({ certificates }: { readonly certificates: readonly Certificate[] }) => (
  <Card title={w.calendar}>
    <ol class="calendar">
      {expiries(certificates, Date.now()).map(({ at, many }) => (
        <li key={at.toISOString()} class={many > 0 ? 'some' : ''}>
          {monthOf(at)}
          <strong>{count(many)}</strong>
        </li>
      ))}
    </ol>
  </Card>
)
