_dra_plan_completion() {
    local IFS=$'
'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" \
                   COMP_CWORD=$COMP_CWORD \
                   _DRA_PLAN_COMPLETE=complete_bash $1 ) )
    [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o default -F _dra_plan_completion dra-plan
