import { inWords } from './words.ts'

/** The texts of the screen of our own Pix keys. */
export const pixKeyWords = inWords({
  title: ['Pix keys', 'Chaves Pix'],
  keys: ['Keys', 'Chaves'],
  intro: [
    'The keys of your customers in the directory of the central bank.',
    'As chaves dos seus clientes no diretório do banco central.',
  ],
  key: ['Key', 'Chave'],
  notYet: ['not made yet', 'ainda não criada'],
  kind: ['Type', 'Tipo'],
  owner: ['Owner', 'Titular'],
  account: ['Account', 'Conta'],
  none: ['No key of this institution.', 'Nenhuma chave desta instituição.'],
  compare: ['Compare with the directory', 'Comparar com o diretório'],
  compareConsequence: [
    'The directory is asked once whether its set of keys of that type is ours. Nothing is changed.',
    'Pergunta-se uma vez ao diretório se o conjunto de chaves desse tipo é o nosso. Nada é alterado.',
  ],
  verb: ['Compare', 'Comparar'],
  same: ['The same keys: {count}.', 'Chaves iguais: {count}.'],
  different: [
    'Different: the directory has another set of keys than we do. Ours: {count}.',
    'Diferentes: o diretório tem outro conjunto de chaves que nós. As nossas: {count}.',
  ],
  remove: ['Remove', 'Remover'],
  removeConsequence: [
    '{key} is taken out of the directory: nobody can pay by it any more, and anybody may register it.',
    '{key} é retirada do diretório: ninguém mais paga por ela, e qualquer um pode registrá-la.',
  ],
  reason: ['Reason', 'Motivo'],
})
