import type { ComponentChildren } from 'preact'
import { inWords } from './words.ts'

/** Not only colour tells a tone: a sign and a word say the same. */
type Tone = 'settled' | 'pending' | 'failed' | 'unknown' | 'info'

/** The states of each tone; any other is pending. */
const states: Readonly<Record<Exclude<Tone, 'pending'>, string>> = {
  settled:
    'ACCEPTED PROCESSED PARTIALLY_ACCEPTED settled authorized captured partially_captured ' +
    'partially_accepted completed confirmed verified registered deployed permitted delivered ' +
    'balanced done ok up active CONCLUIDA APROVADA ACEITA PAGA DEVOLVIDO',
  failed:
    'REJECTED FAILED rejected failed declined reverted forbidden refused different exhausted ' +
    'mismatched down REJEITADA NAO_REALIZADO',
  unknown: 'UNKNOWN unknown unanswered',
  info:
    'removed closed released reclaimed voided refunded info disabled archived paused cancelled ' +
    'EXPIRADA CANCELADA REMOVIDA_PELO_USUARIO_RECEBEDOR REMOVIDA_PELO_PSP',
}

const tones = new Map(
  (['settled', 'failed', 'unknown', 'info'] as const).flatMap((tone) =>
    states[tone].split(' ').map((state): [string, Tone] => [state, tone]),
  ),
)

const signs: Readonly<Record<Tone, string>> = {
  settled: 'M3.5 8.5l3 3 6-7',
  pending: 'M8 4.5V8l2.5 1.5M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2',
  failed: 'M4.5 4.5l7 7m0-7l-7 7',
  unknown: 'M5.8 6.2a2.2 2.2 0 1 1 3 2c-.6.3-.8.7-.8 1.4m0 2.4v.2',
  info: 'M3.5 8h9m-4-4l4 4-4 4',
}

/** States and outcomes in words; any other is shown as the API calls it. */
const statusWords: Readonly<Record<string, string>> = inWords({
  queued: ['queued', 'na fila'],
  balanced: ['balanced', 'conferido'],
  debit: ['sales', 'vendas'],
  debit_reversal: ['sales taken back', 'vendas desfeitas'],
  credit: ['refunds', 'reembolsos'],
  credit_reversal: ['refunds taken back', 'reembolsos desfeitos'],
  different: ['different', 'divergente'],
  unanswered: ['unanswered', 'sem resposta'],
  sent: ['sent', 'enviada'],
  accepted: ['accepted', 'aceita'],
  partially_accepted: ['partly accepted', 'aceita em parte'],
  rejected: ['rejected', 'rejeitada'],
  failed: ['failed', 'falhou'],
  unknown: ['unknown', 'desconhecida'],
  received: ['received', 'recebida'],
  processed: ['processed', 'processada'],
  pending: ['pending', 'pendente'],
  delivered: ['delivered', 'entregue'],
  exhausted: ['exhausted', 'esgotada'],
  authorized: ['authorized', 'autorizada'],
  declined: ['declined', 'recusada'],
  captured: ['captured', 'capturada'],
  partially_captured: ['partly captured', 'capturada em parte'],
  refunded: ['refunded', 'estornada'],
  voided: ['voided', 'desfeita'],
  partially_voided: ['partly voided', 'desfeita em parte'],
  incremented: ['incremented', 'incrementada'],
  expired: ['expired', 'expirada'],
  running: ['running', 'em execução'],
  signed: ['signed', 'assinada'],
  broadcast: ['broadcast', 'transmitida'],
  mined: ['mined', 'minerada'],
  confirmed: ['confirmed', 'confirmada'],
  reverted: ['reverted', 'revertida'],
  cancelled: ['cancelled', 'cancelada'],
  settled: ['settled', 'liquidada'],
  commanded: ['commanded', 'comandada'],
  mismatched: ['mismatched', 'divergente'],
  released: ['released', 'liberada'],
  reclaimed: ['reclaimed', 'retomada'],
  done: ['done', 'feito'],
  verified: ['verified', 'verificada'],
  active: ['active', 'ativa'],
  disabled: ['disabled', 'desativada'],
  registering: ['being registered', 'em registro'],
  changing: ['being changed', 'em alteração'],
  removing: ['being removed', 'em remoção'],
  removed: ['removed', 'removida'],
  refused: ['refused', 'recusada'],
  archived: ['archived', 'arquivada'],
  opening: ['being opened', 'em abertura'],
  open: ['open', 'aberta'],
  waiting_resolution: ['waits for the donor', 'aguarda o doador'],
  completed: ['completed', 'concluída'],
  requested: ['being asked for', 'em solicitação'],
  acknowledged: ['acknowledged', 'recebida'],
  closed: ['closed', 'encerrada'],
  registered: ['registered', 'registrado'],
  deploying: ['being deployed', 'em implantação'],
  deployed: ['deployed', 'implantado'],
  permitted: ['permitted', 'permitido'],
  authorization: ['authorization', 'autorização'],
  capture: ['capture', 'captura'],
  refund: ['refund', 'estorno'],
  void: ['void', 'cancelamento'],
  partial_capture: ['partial capture', 'captura parcial'],
  partial_void: ['partial void', 'cancelamento parcial'],
  release: ['void of what is left', 'cancelamento do restante'],
  increment: ['increment', 'incremento'],
  verification: ['verification', 'verificação'],
  advice: ['advice', 'aviso'],
  network_advice: ['advice of the network', 'aviso da rede'],
  late_answer: ['late answer', 'resposta tardia'],
  advised: ['told later', 'informada depois'],
  authorized_in_place: ['authorized in place of the network', 'autorizada no lugar da rede'],
  not_sent: ['not sent', 'não enviada'],
  resolved: ['resolved', 'resolvida'],
  valid: ['valid', 'válida'],
  invalid: ['invalid', 'inválida'],
  absent: ['absent', 'ausente'],
  not_checked: ['not checked', 'não verificada'],
  reversal: ['reversal', 'reversão'],
  created: ['created', 'criado'],
  changed: ['changed', 'alterado'],
  deleted: ['deleted', 'excluído'],
  rotated: ['rotated', 'trocado'],
  replayed: ['replayed', 'reenviado'],
  revoked: ['revoked', 'revogada'],
  forbidden: ['forbidden', 'proibido'],
  ativa: ['open', 'ativa'],
  concluida: ['paid', 'concluída'],
  removida_pelo_usuario_recebedor: ['removed by its receiver', 'removida pelo recebedor'],
  removida_pelo_psp: ['removed by the institution', 'removida pelo PSP'],
  criada: ['created', 'criada'],
  aprovada: ['authorised', 'aprovada'],
  rejeitada: ['rejected', 'rejeitada'],
  expirada: ['expired', 'expirada'],
  cancelada: ['cancelled', 'cancelada'],
  enviada: ['sent', 'enviada'],
  recebida: ['received', 'recebida'],
  aceita: ['accepted', 'aceita'],
  solicitada: ['asked for', 'solicitada'],
  agendada: ['scheduled', 'agendada'],
  paga: ['paid', 'paga'],
  em_processamento: ['under way', 'em processamento'],
  devolvido: ['given back', 'devolvido'],
  nao_realizado: ['not done', 'não realizado'],
  semanal: ['weekly', 'semanal'],
  mensal: ['monthly', 'mensal'],
  trimestral: ['every three months', 'trimestral'],
  semestral: ['every six months', 'semestral'],
  anual: ['yearly', 'anual'],
  permite_3r_7d: ['three within seven days', 'três em sete dias'],
  jornada_1: ['asked by its institution', 'solicitação (jornada 1)'],
  jornada_2: ['by a QR code', 'QR Code (jornada 2)'],
  jornada_3: ['with a charge paid at once', 'com pagamento imediato (jornada 3)'],
  jornada_4: ['offered with a charge', 'oferta com cobrança (jornada 4)'],
  aguardando_definicao: ['not yet known', 'aguardando definição'],
})

export const statusText = (status: string): string => {
  const name = status.toLowerCase()
  return statusWords[name] ?? name.replaceAll('_', ' ')
}

/** An event such as `partial_capture_sent` in words, made of the longest parts that have words of their own. */
export const eventText = (type: string): string => {
  const parts = type.split('_')
  const last = parts.findLastIndex((_, at) => parts.slice(0, at + 1).join('_') in statusWords)
  const end = Math.max(last, 0) + 1
  const first = statusText(parts.slice(0, end).join('_'))
  return end === parts.length ? first : `${first} ${eventText(parts.slice(end).join('_'))}`
}

export const toneOf = (status: string): Tone => tones.get(status) ?? 'pending'

export const Sign = ({ status }: { readonly status: string }) => (
  <svg class="sign" viewBox="0 0 16 16" aria-hidden="true">
    <path d={signs[toneOf(status)]} />
  </svg>
)

export const toneClass = (status: string): string => `tone-${toneOf(status)}`

export const Badge = ({
  status,
  label,
}: {
  readonly status: string
  readonly label?: ComponentChildren
}) => (
  <span class={`badge ${toneClass(status)}`}>
    <Sign status={status} />
    {label ?? statusText(status)}
  </span>
)
