import type { ProcessRole } from '../platform/config/index.ts'
import { withMissingSettings } from '../platform/http/index.ts'
import type { Feature } from '../platform/lifecycle/index.ts'
import type { Values } from './settings.ts'

/** The roles of this process. */
export type Roles = { readonly has: (role: ProcessRole) => boolean }

/**
 * Without TRILHO_ROLES a process does everything; SPI_ROLES alone then chooses among the stages of instant payments.
 */
export const rolesOf = ({ platform: { roles } }: Values): Roles => {
  const chosen = roles && new Set(roles)
  return { has: (role) => chosen?.has(role) ?? true }
}

/** Whether callers have a reason to send this process requests. */
export const doesTakeRequests = (roles: Roles): boolean =>
  (['api', 'grpc', 'cards'] as const).some((role) => roles.has(role))

/** The feature for a process that does nothing of it: its endpoints say which setting they need. */
export const withoutRole = ({ routes = [], ...feature }: Feature): Feature => ({
  name: feature.name,
  ...(feature.listener === undefined ? {} : { listener: feature.listener }),
  ...(feature.errors === undefined ? {} : { errors: feature.errors }),
  ...(feature.events === undefined ? {} : { events: feature.events }),
  routes: withMissingSettings(routes, [roleSetting]),
})

/** For a feature whose only work, besides its endpoints, is jobs for the whole fleet. */
export const withJobs = (roles: Roles, feature: Feature): Feature =>
  roles.has('jobs') ? feature : { ...feature, start: () => {}, drain: () => {} }

/** Cards have a role of their own, endpoints included: connections and what uses them are in one process. */
export const withEndpoints = (roles: Roles, features: readonly Feature[]): readonly Feature[] =>
  roles.has('api')
    ? features
    : features.map((feature) =>
        feature.listener === 'cards' || feature.routes === undefined
          ? feature
          : { ...feature, routes: withMissingSettings(feature.routes, [roleSetting]) },
      )

const roleSetting = 'TRILHO_ROLES'
