import type { ListenAddress, SettingProblem } from '../platform/config/index.ts'
import { bindAddress } from '../spi/index.ts'
import type { Values } from './settings.ts'

type Listener = { readonly name: string; readonly address: ListenAddress }

/**
 * Refuses two listeners of one address: the second could not open it, and workers share addresses, so each request
 * would reach either of the two.
 */
export const listenerProblems = (values: Values): readonly SettingProblem[] => {
  const listeners = listenersOf(values)
  return listeners.flatMap(({ name, address }, index) => {
    const other = listeners.slice(0, index).find((before) => isSame(before.address, address))
    if (other === undefined) return []
    return [
      {
        name,
        value: `${address.host ?? ''}:${address.port}`,
        problem: `is where ${other.name} listens`,
        expected: 'a port of its own',
        fix: `give ${name} another port`,
      },
    ]
  })
}

const listenersOf = ({ platform, grpc }: Values): readonly Listener[] => {
  const { httpAddr, cardgwPort, adminAddr, pixAddr, roles } = platform
  const isOne = cardgwPort === httpAddr.port
  const hasGrpc = roles?.includes('grpc') ?? true
  return [
    { name: 'HTTP_ADDR', address: httpAddr },
    { name: 'CARDGW_PORT', address: isOne ? undefined : { ...httpAddr, port: cardgwPort } },
    { name: 'TRILHO_ADMIN_ADDR', address: adminAddr },
    { name: 'PIX_API_ADDR', address: pixAddr },
    { name: 'GRPC_ADDR', address: hasGrpc ? bindAddress(grpc) : undefined },
  ].flatMap(({ name, address }) => (address === undefined ? [] : [{ name, address }]))
}

/** Port 0 is a free one each time. */
const isSame = (one: ListenAddress, other: ListenAddress): boolean =>
  one.port !== 0 &&
  one.port === other.port &&
  (hostOf(one) === hostOf(other) || isAll(one) || isAll(other))

const hostOf = ({ host }: ListenAddress): string | undefined =>
  host === 'localhost' ? '127.0.0.1' : host

const isAll = ({ host }: ListenAddress): boolean =>
  host === undefined || host === '0.0.0.0' || host === '::'
