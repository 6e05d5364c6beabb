export type Language = 'en' | 'pt'

const stored = localStorage.getItem('trilho-language')
const spoken: Language = navigator.language.startsWith('pt') ? 'pt' : 'en'

/** The language of this page; a change takes effect when the page loads again. */
export const language: Language = stored === 'en' || stored === 'pt' ? stored : spoken
export const locale = language === 'pt' ? 'pt-BR' : 'en'

export const chooseLanguage = (chosen: Language): void => {
  localStorage.setItem('trilho-language', chosen)
  location.reload()
}

/** Texts of a screen, each in English and in Portuguese: one without the other does not compile. */
export const inWords = <Name extends string>(
  pairs: Readonly<Record<Name, readonly [english: string, portuguese: string]>>,
): Readonly<Record<Name, string>> =>
  Object.fromEntries(
    Object.entries<readonly [string, string]>(pairs).map(([name, [english, portuguese]]) => [
      name,
      language === 'pt' ? portuguese : english,
    ]),
  ) as Record<Name, string>

/** Puts values in the place of names such as `{url}`. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place)

/** Texts that several screens use. */
export const words = inWords({
  overview: ['Overview', 'Visão geral'],
  payments: ['Payments', 'Pagamentos'],
  audit: ['Audit', 'Auditoria'],
  navigation: ['Navigation', 'Navegação'],
  signIn: ['Sign in', 'Entrar'],
  signOut: ['Sign out', 'Sair'],
  signInHint: [
    'Sign in with an API key. It stays in a sealed cookie that no script can read.',
    'Entre com uma chave de API. Ela fica em um cookie selado que nenhum script lê.',
  ],
  over: [
    'The session is over. Sign in to go on where you were.',
    'A sessão terminou. Entre para continuar onde estava.',
  ],
  apiKey: ['API key', 'Chave de API'],
  insecure: [
    'The browser kept no session: open the console over HTTPS, or on localhost.',
    'O navegador não guardou a sessão: abra o console por HTTPS ou em localhost.',
  ],
  theme: ['Dark or light', 'Claro ou escuro'],
  language: ['Português', 'English'],
  skip: ['To the content', 'Ir para o conteúdo'],
  spi: ['Pix', 'Pix'],
  cards: ['Cards', 'Cartões'],
  drex: ['Digital currency', 'Moeda digital'],
  rail: ['Rail', 'Trilho'],
  search: ['Search', 'Buscar'],
  find: ['Find…', 'Localizar…'],
  findHint: [
    'Find a payment by any identifier, or explain a message',
    'Localizar um pagamento por qualquer identificador, ou explicar uma mensagem',
  ],
  status: ['Status', 'Situação'],
  any: ['Any status', 'Qualquer situação'],
  searchBy: ['Search by', 'Buscar por'],
  amounts: ['Amount in reais: 10.50, or 10–20', 'Valor em reais: 10,50 ou 10–20'],
  messageType: ['Type, such as pacs.008', 'Tipo, como pacs.008'],
  sourceIspb: ['ISPB of the sender', 'ISPB do remetente'],
  destinationIspb: ['ISPB of the receiver', 'ISPB do destinatário'],
  stan: ['STAN (of one day)', 'NSU/STAN (de um dia)'],
  reference: ['Reference', 'Referência'],
  merchant: ['Merchant', 'Estabelecimento'],
  wallet: ['Wallet address', 'Endereço da carteira'],
  transactionHash: ['Transaction hash', 'Hash da transação'],
  fromDay: ['From', 'De'],
  toDay: ['To', 'Até'],
  identifier: ['Identifier', 'Identificador'],
  kind: ['Kind', 'Tipo'],
  party: ['Counterparty', 'Contraparte'],
  amount: ['Amount', 'Valor'],
  time: ['Time', 'Horário'],
  trace: ['Trace', 'Rastro'],
  more: ['Show more', 'Mostrar mais'],
  loaded: ['loaded', 'carregados'],
  none: ['Nothing matches.', 'Nada corresponde.'],
  noneYet: [
    'No payments yet. The first one appears here.',
    'Ainda não há pagamentos. O primeiro aparece aqui.',
  ],
  loading: ['Loading', 'Carregando'],
  stale: ['Not updated since {time}.', 'Sem atualização desde {time}.'],
  noAnswer: ['The gateway does not answer.', 'O gateway não responde.'],
  foreign: [
    'Somebody between this page and the gateway answered (HTTP {status}), not the gateway.',
    'Quem respondeu (HTTP {status}) está entre esta página e o gateway; não foi o gateway.',
  ],
  again: ['Try again', 'Tentar de novo'],
  failed: ['This cannot be shown', 'Não é possível mostrar'],
  request: ['Request', 'Requisição'],
  lacking: ['This key may not read this.', 'Esta chave não pode ler isto.'],
  back: ['Payments', 'Pagamentos'],
  copyLink: ['Copy link', 'Copiar link'],
  copied: ['Copied', 'Copiado'],
  notCopied: ['Not copied', 'Não copiado'],
  timeline: ['Timeline', 'Linha do tempo'],
  decoded: ['Decoded', 'Decodificado'],
  raw: ['Raw', 'Original'],
  signature: ['signature', 'assinatura'],
  signedOnItsWay: ['signed on its way out', 'assinada ao sair'],
  cut: [
    'The first {count} lines are shown: what is copied or downloaded has all of them.',
    'São mostradas as primeiras {count} linhas: o que se copia ou baixa tem todas.',
  ],
  download: ['Download', 'Baixar'],
  copy: ['Copy', 'Copiar'],
  counterparties: ['Counterparties', 'Contrapartes'],
  all: ['All payments', 'Todos os pagamentos'],
  up: ['up', 'ativo'],
  down: ['down', 'inativo'],
  inFlight: ['in flight', 'em curso'],
  oldest: ['oldest', 'mais antiga'],
  healthy: ['In order', 'Em ordem'],
  unhealthy: ['Degraded', 'Degradado'],
  actor: ['Actor', 'Autor'],
  action: ['Action', 'Ação'],
  object: ['Object', 'Objeto'],
  outcome: ['Outcome', 'Resultado'],
  attempt: ['attempt', 'tentativa'],
  attempts: ['attempts', 'tentativas'],
  readOnly: ['read only', 'só leitura'],
  notFound: ['There is no such page.', 'Esta página não existe.'],
})
