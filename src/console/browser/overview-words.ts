import { inWords } from './words.ts'

/** The texts of the overview. Names of concerns have a plural behind a bar. */
export const overviewWords = inWords({
  untold: [
    'The gateway does not tell now how its parts are.',
    'O gateway não informa agora como estão suas partes.',
  ],
  perMinute: ['per minute', 'por minuto'],
  success: ['Success', 'Sucesso'],
  open: ['In flight', 'Em curso'],
  median: ['p50', 'p50'],
  late: ['p99', 'p99'],
  count: ['Started', 'Iniciados'],
  time: ['Time to the outcome, ms', 'Tempo até o resultado, ms'],
  chartOfCount: [
    '{rail}: started over time, at most {max}',
    '{rail}: iniciados no tempo, no máximo {max}',
  ],
  chartOfTime: ['{rail}: p50 and p99 over time', '{rail}: p50 e p99 no tempo'],
  window: ['Window', 'Janela'],
  minutes: ['{count} min', '{count} min'],
  hours: ['{count} h', '{count} h'],
  moreOutcomes: ['Other outcomes: {kinds}, of {count}.', 'Outros resultados: {kinds}, de {count}.'],
  part: ['The newest {count} since {time}.', 'Os {count} mais recentes desde {time}.'],
  quiet: ['Nothing in this time.', 'Nada neste período.'],
  attention: ['Needs a person', 'Precisa de alguém'],
  nothing: ['Nothing needs a person.', 'Nada precisa de alguém.'],
  unknown: ['Pix without an answer', 'Pix sem resposta'],
  reversals: [
    'card reversal not confirmed|card reversals not confirmed',
    'desfazimento de cartão não confirmado|desfazimentos de cartão não confirmados',
  ],
  held: [
    'transfer that may be on the chain already|transfers that may be on the chain already',
    'transferência talvez já na cadeia|transferências talvez já na cadeia',
  ],
  letters: ['dead letter|dead letters', 'mensagem morta|mensagens mortas'],
  lanes: ['lane held up|lanes held up', 'fila parada|filas paradas'],
  expiring: [
    'certificate about to expire|certificates about to expire',
    'certificado prestes a vencer|certificados prestes a vencer',
  ],
  claims: ['claim to a key|claims to keys', 'reivindicação de chave|reivindicações de chaves'],
  reports: [
    'infraction report to answer|infraction reports to answer',
    'notificação de infração a responder|notificações de infração a responder',
  ],
  refundRequests: [
    'refund request to answer|refund requests to answer',
    'solicitação de devolução a responder|solicitações de devolução a responder',
  ],
  endpoints: [
    'webhook that nobody takes|webhooks that nobody takes',
    'webhook que ninguém aceita|webhooks que ninguém aceita',
  ],
  parts: ['part not in order|parts not in order', 'parte fora de ordem|partes fora de ordem'],
  transfers: [
    'transfer not mined|transfers not mined',
    'transferência não minerada|transferências não mineradas',
  ],
  approvals: [
    'transfer to be approved|transfers to be approved',
    'transferência a aprovar|transferências a aprovar',
  ],
  queues: ['Queues', 'Filas'],
  noParties: ['No counterparty is configured.', 'Nenhuma contraparte configurada.'],
  primary: ['primary', 'primário'],
  secondary: ['secondary', 'secundário'],
  certificates: ['Certificates next to expire', 'Próximos certificados a vencer'],
  noQueues: ['No queue of this broker is told of.', 'Não há filas a mostrar.'],
  noCertificates: ['No certificates.', 'Sem certificados.'],
  refusesUs: ['refuses us access', 'recusa nosso acesso'],
  silent: ['silent for {time}', 'em silêncio há {time}'],
  roundTrip: ['round trip {time}', 'ida e volta {time}'],
  echo: ['echo {time}', 'eco {time}'],
})
