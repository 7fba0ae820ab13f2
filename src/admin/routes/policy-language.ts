import { POLICY_JSON_SCHEMA } from '../../policy/document/json-schema.ts'
import { FACTS } from '../../policy/facts.ts'
import { SESSION_FACTS } from '../../policy/session-facts.ts'
import { FUNCTIONS, METHODS } from '../../policy/tools/language.ts'
import { readTemplatesInTurns } from '../../policy/tools/templates.ts'
import { POLICY_SUBJECTS } from '../../policy/types/document.ts'
import { CALLER, declareRoutes } from '../route.ts'
import { closed, named, oneOf, Type } from '../schema.ts'

const route = declareRoutes('Policy trials')

const TEMPLATE = named(
  'PolicyTemplate',
  closed({ name: Type.String(), title: Type.String(), description: Type.String(), source: Type.String() }),
)

export const POLICY_LANGUAGE_ROUTES = [
  route('describePolicyLanguage', 'GET', '/policy-language', {
    access: CALLER,
    command: false,
    summary: 'List the facts and functions that rules can use',
    answer: closed({
      facts: Type.Array(
        closed({
          name: Type.String(),
          type: Type.String(),
          description: Type.String(),
          decides: oneOf(POLICY_SUBJECTS, 'Kind of policy that can read the fact'),
        }),
      ),
      functions: Type.Array(Type.String()),
      methods: Type.Array(Type.String()),
    }),
    handle: async () => ({
      facts: POLICY_SUBJECTS.flatMap((decides) =>
        Object.entries({ requests: FACTS, sessions: SESSION_FACTS }[decides]).flatMap(([group, fields]) =>
          Object.entries(fields).map(([name, { type, description }]) => ({
            name: `${group}.${name}`,
            type,
            description,
            decides,
          })),
        ),
      ),
      functions: [...FUNCTIONS],
      methods: [...METHODS],
    }),
  }),
  route('readPolicySchema', 'GET', '/policy-language/schema', {
    access: CALLER,
    command: false,
    summary: 'Get the JSON Schema of policy documents, for editors',
    answer: Type.Record(Type.String(), Type.Unknown()),
    handle: async () => ({ ...POLICY_JSON_SCHEMA }),
  }),
  route('listPolicyTemplates', 'GET', '/policy-templates', {
    access: CALLER,
    command: false,
    summary: 'List policy templates',
    answer: closed({ data: Type.Array(TEMPLATE) }),
    handle: async () => ({ data: (await readTemplatesInTurns()).map((template) => ({ ...template })) }),
  }),
]
