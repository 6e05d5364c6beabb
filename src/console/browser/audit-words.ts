import { inWords } from './words.ts'

/** The texts of the screen of the audit log. */
export const auditWords = inWords({
  intro: [
    'Who did what, of all accounts, newest first. Choose an action, actor or object to see no other.',
    'Quem fez o quê, de todas as contas, o mais novo primeiro. Escolha uma ação, um autor ou um objeto para ver só dele.',
  ],
  all: ['Show all', 'Mostrar tudo'],
  chain: ['Chain of hashes', 'Cadeia de hashes'],
  chainNote: [
    'Each entry is sealed over the one before it, half a minute after it was written. Whoever alters, deletes or inserts one is found here.',
    'Cada registro é selado sobre o anterior, meio minuto depois de escrito. Quem altera, exclui ou insere um é descoberto aqui.',
  ],
  anchor: [
    'A link that you noted before, as number:hash',
    'Um elo que você anotou, como número:hash',
  ],
  database: ['Database', 'Banco de dados'],
  databaseShared: ['the shared one', 'o comum'],
  databaseCards: ['that of cards, where they have their own', 'o de cartões, se for separado'],
  verify: ['Verify the chain', 'Verificar a cadeia'],
  stop: ['Stop', 'Parar'],
  going: ['{entries} entries in {links} links…', '{entries} registros em {links} elos…'],
  whole: [
    'The log is as it was written: {entries} entries in {links} links, {late} of them late.',
    'O registro está como foi escrito: {entries} registros em {links} elos, {late} deles tardios.',
  ],
  stopped: [
    'Stopped: nothing was found in the first {links} links.',
    'Parado: nada foi encontrado nos primeiros {links} elos.',
  ],
  broken: [
    'The log is not as it was written. Findings: {count}; links: {links}.',
    'O registro não está como foi escrito. Achados: {count}; elos: {links}.',
  ],
  head: [
    'The last link. Note it elsewhere, and name it the next time.',
    'O último elo. Anote-o em outro lugar, e informe-o da próxima vez.',
  ],
  finding: ['Finding', 'Achado'],
  place: ['Entry or link', 'Registro ou elo'],
})

/** Findings about an entry or a link, by their kind. */
export const findingWords: Readonly<Record<string, string>> = inWords({
  altered: ['not what was sealed', 'não é o que foi selado'],
  deleted: ['gone', 'desapareceu'],
  inserted: ['no link has sealed it', 'nenhum elo o selou'],
  reordered: ['another entry stood here', 'outro registro estava aqui'],
  link: ['missing, or not the hash of its entries', 'falta, ou não é o hash de seus registros'],
  dropped: ['dropped before its time', 'descartado antes da hora'],
  anchor: ['not the one that was noted', 'não é o que foi anotado'],
})
