import { expect, test } from 'bun:test'
import { cnpjForm, cpfForm, ispbForm, isTaxId, maskedTaxId, taxIdForm } from '#codecs/taxpayer'

const [cpf, cnpj, alphanumeric] = ['12345678909', '12345678000195', '12ABC34501DE35'] as const

test('forms take whole texts of the right length', () => {
  const forms = { cpfForm, cnpjForm, taxIdForm, ispbForm }
  const taken = (text: string) =>
    Object.entries(forms).flatMap(([name, form]) => (form.test(text) ? [name] : []))
  expect(taken(cpf)).toEqual(['cpfForm', 'taxIdForm'])
  for (const one of [cnpj, alphanumeric]) expect(taken(one)).toEqual(['cnpjForm', 'taxIdForm'])
  expect(taken('12AB5678')).toEqual(['ispbForm'])
  for (const wrong of [`${cpf}\n`, ` ${cnpj}`, '12abc34501DE35', '12ABC34501DEF5', '1234567'])
    expect(taken(wrong)).toEqual([])
})

test('a tax id has right check digits, and a CPF is shown by its middle', () => {
  expect([cpf, cnpj, alphanumeric].every(isTaxId)).toBe(true)
  expect(['12345678900', '11111111111', '12345678000190', ''].some(isTaxId)).toBe(false)
  expect([cpf, cnpj].map(maskedTaxId)).toEqual(['***456789**', cnpj])
})
